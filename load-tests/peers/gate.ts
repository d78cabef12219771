/** What Slipway must not fall behind, as ratios to Fastify in the same run, with room for the noise of a shared machine. */
const leastRate: Readonly<Record<string, number>> = {
  'small route': 1.2,
  'wide list, 32': 2.5,
  'wide list, 128': 3,
  'wide list, 512': 5,
};
const mostCpu: Readonly<Record<string, number>> = {
  'small route': 0.85,
  'refused filter': 1.2,
  'one by id': 0.8,
  'short list': 0.85,
  'narrow list': 0.75,
};

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
