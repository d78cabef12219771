/**
 * What Slipway is to reach of each line, as a multiple of Fastify's rate in the same run where both have a core of their own.
 * A goal is not a gate: those that are not reached stay here, and the table shows them beside what was measured.
 */
export const goals: Readonly<Record<string, number>> = {
  'small route': 2.2,
  'unknown route': 2,
  'refused filter': 1.8,
  'one by id': 1.5,
  'short list': 1.8,
  'narrow list': 1.8,
  'wide list, 32': 6,
  'wide list, 128': 8,
  'wide list, 512': 20,
  'narrow list, SQLite': 2,
  'wide list, SQLite': 3,
};

/**
 * What Slipway has reached and must not fall behind, as ratios to Fastify in the same run. There is room for the noise of a
 * shared machine: runs of one build differ by a third. A gate moves up when more is reached for good; one that moves down
 * needs the reason here. Windows below two seconds are too short for the wide lists, whose answers take Fastify half a second.
 */
const leastRate: Readonly<Record<string, number>> = {
  'small route': 1.8,
  'unknown route': 1.3,
  'one by id': 1.4,
  'narrow list': 1.3,
  'wide list, 32': 5,
  'wide list, 128': 8,
  'wide list, 512': 20,
  'narrow list, SQLite': 1.4,
  'wide list, SQLite': 2,
};
/** CPU of the server: the rate of lists and records is bounded by the database too, which shares the other core with the clients. */
const mostCpu: Readonly<Record<string, number>> = {
  'small route': 0.6,
  'unknown route': 0.75,
  'refused filter': 1,
  'one by id': 0.7,
  'short list': 0.8,
  'narrow list': 0.6,
  'wide list, 32': 0.6,
  'narrow list, SQLite': 0.7,
  'wide list, SQLite': 0.5,
};

/** Seconds that a window takes at least where its ratios are compared. */
export const leastSeconds = 2;

/** A line of the table: Slipway's figures as parts of Fastify's, and how many answers were not as expected. */
export interface Ratios {
  rate: number;
  cpu: number;
  failed: number;
}

/** What the ratios of a run fall behind, a line for each; a closed loop that was refused anything is one too. */
export function behind(ratios: ReadonlyMap<string, Ratios>): string[] {
  return [...ratios].flatMap(([kind, { rate, cpu, failed }]) => [
    ...(rate < (leastRate[kind] ?? 0)
      ? [`${kind}: ${rate.toFixed(2)} of Fastify's rate, expected ${leastRate[kind]}`]
      : []),
    ...(cpu > (mostCpu[kind] ?? Infinity)
      ? [`${kind}: ${cpu.toFixed(2)} of Fastify's CPU, expected ${mostCpu[kind]}`]
      : []),
    ...(failed > 0 ? [`${kind}: ${failed} answers were not as expected`] : []),
  ]);
}
