import { listName, textTable } from '../lib/summary-table.ts';
import type { Difference } from './compare-runs.ts';

/** The differences of two runs side by side, and the number of regressions. */
export function differenceTable(differences: readonly Difference[]): string {
  const table = textTable<Difference>(
    [
      ['scenario', ({ scenario }) => scenario],
      ['list', listName],
      ['measure', ({ measure }) => measure],
      ['before', ({ before }) => before],
      ['after', ({ after }) => after],
      ['change', changeOf],
      ['verdict', ({ verdict }) => (verdict === 'regression' ? 'REGRESSION' : verdict)],
    ],
    differences,
    3,
  );
  const count = differences.filter(({ verdict }) => verdict === 'regression').length;
  return `${table}${count === 0 ? 'no regression' : `${count} ${count === 1 ? 'regression' : 'regressions'}`}\n`;
}

/** A change in per cent. */
export function changeOf({ before, after }: Pick<Difference, 'before' | 'after'>): string {
  if (before === after) return '';
  if (before === 0) return 'new';
  const change = Math.round((100 * (after - before)) / before);
  return `${change > 0 ? '+' : ''}${change} %`;
}
