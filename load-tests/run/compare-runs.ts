import type { RunSummary } from '../lib/run-summary.ts';

/** One measure of two runs. */
export interface Difference {
  readonly measure: string;
  readonly before: number;
  readonly after: number;
  /** `too few`: of too few requests to tell; `unlike`: of runs whose times say nothing of each other. */
  readonly verdict: 'same' | 'better' | 'regression' | 'too few' | 'unlike';
}

interface Measure {
  readonly name: string;
  readonly of: (run: RunSummary) => number;
  /** Which way is worse. */
  readonly worse: 'more' | 'less';
  /** How many times as much is too much, in terms of the tolerance. */
  readonly factor: (tolerance: number) => number;
  /** What never matters, in the unit of the measure: the noise of a machine. */
  readonly noise: number;
  /** How many requests both runs have to have for it to say anything. Default 0. */
  readonly requests?: number;
}

const measures: readonly Measure[] = [
  { name: 'median ms', of: ({ median }) => median, worse: 'more', factor: (tolerance) => tolerance, noise: 1 },
  // The tail is less steady than the middle: the same tolerance on its logarithm, twice.
  { name: 'p95 ms', of: ({ p95 }) => p95, worse: 'more', factor: (tolerance) => tolerance ** 2, noise: 5 },
  // Ten requests are slower than it then; below, it is the time of a few, and p95 has to do.
  {
    name: 'p99 ms',
    of: ({ p99 }) => p99,
    worse: 'more',
    factor: (tolerance) => tolerance ** 2,
    noise: 5,
    requests: 1_000,
  },
  { name: 'bytes/request', of: ({ bytes }) => bytes, worse: 'more', factor: () => 1.1, noise: 64 },
  { name: 'failed', of: ({ failed, refused }) => failed - refused, worse: 'more', factor: () => 1, noise: 0 },
  { name: 'refused', of: ({ refused }) => refused, worse: 'more', factor: (tolerance) => tolerance, noise: 10 },
  { name: 'checks failed', of: ({ checksFailed }) => checksFailed, worse: 'more', factor: () => 1, noise: 0 },
  { name: 'dropped', of: ({ dropped }) => dropped, worse: 'more', factor: () => 1, noise: 0 },
];

/** Of a run that looked for the breaking point, its result. */
const held: Measure = { ...rateMeasure('held requests/s'), of: (run) => run.held ?? 0 };

/** Of a closed model the rate is its result; of an open one it is its input. */
const rate: Measure = { ...rateMeasure('iterations/s'), of: (run) => run.rate };

function rateMeasure(name: string): Omit<Measure, 'of'> {
  return { name, worse: 'less', factor: (tolerance) => tolerance, noise: 1 };
}

/**
 * Compares two runs of one scenario, list and profile. One that made no request is no better than another.
 *
 * @param tolerance how many times as slow is still the same; above 1
 */
export function compareRuns(before: RunSummary, after: RunSummary, tolerance: number): Difference[] {
  if (before.requests === 0 || after.requests === 0) {
    const verdict = after.requests === 0 ? 'regression' : 'better';
    return [{ measure: 'requests', before: before.requests, after: after.requests, verdict }];
  }
  const requests = Math.min(before.requests, after.requests);
  return measuresOf(before, after).map((measure) => {
    const [one, other] = [measure.of(before), measure.of(after)];
    const isOfFew = requests < (measure.requests ?? 0);
    const verdict = isOfFew ? 'too few' : judge(measure, one, other, tolerance);
    return { measure: measure.name, before: one, after: other, verdict };
  });
}

function measuresOf(before: RunSummary, after: RunSummary): Measure[] {
  const parts = after.parts.flatMap(({ name }) => {
    const of = (run: RunSummary) => run.parts.find((part) => part.name === name)?.median ?? 0;
    return of(before) > 0 ? [{ ...(measures[0] as Measure), name: `${name}: median ms`, of }] : [];
  });
  // How late and how many failed where it broke says how far it was pushed.
  if (after.profile === 'breakpoint') return [held, ...measures.filter(({ name }) => name === 'checks failed')];
  return [...measures, ...(after.profile.startsWith('closed') ? [rate] : []), ...parts];
}

function judge(
  { worse, factor, noise }: Measure,
  before: number,
  after: number,
  tolerance: number,
): Difference['verdict'] {
  if (Math.abs(after - before) <= noise) return 'same';
  const [small, large] = before < after ? [before, after] : [after, before];
  if (large <= small * factor(tolerance)) return 'same';
  return after > before === (worse === 'more') ? 'regression' : 'better';
}
