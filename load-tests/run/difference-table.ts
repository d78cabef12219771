import { listName, textTable } from '../lib/summary-table.ts';
import type { Difference } from './compare-runs.ts';

/** A run with what it differs by from the one before it. */
interface Compared {
  readonly scenario: string;
  readonly resource: string;
  readonly differences?: readonly Difference[];
}

/** The differences of runs from those before them side by side, and the number of regressions. */
export function differenceTable(runs: readonly Compared[]): string {
  const rows = runs.flatMap(({ differences = [], ...run }) =>
    differences.map((difference) => ({ ...run, ...difference })),
  );
  const table = textTable<(typeof rows)[number]>(
    [
      ['scenario', ({ scenario }) => scenario],
      ['list', listName],
      ['measure', ({ measure }) => measure],
      ['before', ({ before }) => before],
      ['after', ({ after }) => after],
      ['change', changeOf],
      ['verdict', ({ verdict }) => (verdict === 'regression' ? 'REGRESSION' : verdict)],
    ],
    rows,
    3,
  );
  const count = (which: Difference['verdict']) => rows.filter(({ verdict }) => verdict === which).length;
  const [worse, unlike] = [count('regression'), count('unlike')];
  const regressions = worse === 0 ? 'no regression' : `${worse} ${worse === 1 ? 'regression' : 'regressions'}`;
  return `${table}${regressions}${unlike === 0 ? '' : `, ${unlike} not comparable`}\n`;
}

/** A change in per cent. */
export function changeOf({ before, after }: Pick<Difference, 'before' | 'after'>): string {
  if (before === after) return '';
  if (before === 0) return 'new';
  const change = Math.round((100 * (after - before)) / before);
  return `${change > 0 ? '+' : ''}${change} %`;
}
