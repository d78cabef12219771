import type { Options, Scenario } from 'k6/options';
import { target } from './target.ts';

/**
 * Users and time of a run. All are open: iterations start when they are due, whether or not those before have ended, so
 * a slow service shows as slow and not as few requests. RATE (iterations per second) and DURATION replace the numbers.
 */
const profiles = {
  /** Does it work at all? */
  smoke: (): Scenario => constant({ rate: 5, duration: '10s', users: 10 }),
  /** How fast is it at a steady load? */
  load: (): Scenario => ({
    executor: 'ramping-arrival-rate',
    startRate: 1,
    preAllocatedVUs: 50,
    maxVUs: 200,
    stages: [
      { target: rate(20), duration: '10s' },
      { target: rate(20), duration: duration('40s') },
      { target: 0, duration: '5s' },
    ],
  }),
  /** Does anything fail while something else happens? Runs until it is interrupted. */
  rollout: (): Scenario => constant({ rate: 50, duration: '10m', users: 100 }),
} satisfies Record<string, () => Scenario>;

/** Name of the profile that PROFILE chose. Default: smoke. */
export const profile = __ENV['PROFILE'] ?? 'smoke';

/**
 * Options of a scenario under the profile of this run. Besides the scenario's own thresholds no request may fail, no
 * check, and no iteration may be dropped.
 */
export function optionsOf(scenario: string, thresholds: NonNullable<Options['thresholds']>): Options {
  if (!Object.hasOwn(profiles, profile)) {
    throw new Error(`Expected PROFILE to be one of ${Object.keys(profiles).join(', ')}; got "${profile}".`);
  }
  return {
    scenarios: { [scenario]: profiles[profile as keyof typeof profiles]() },
    thresholds: { http_req_failed: ['rate==0'], checks: ['rate==1'], dropped_iterations: ['count==0'], ...thresholds },
    summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max', 'min'],
    userAgent: `k6 ${scenario}`,
    noCookiesReset: true,
    setupTimeout: '30s',
    tags: { target },
  };
}

function constant({ rate: standard, duration: time, users }: { rate: number; duration: string; users: number }) {
  return {
    executor: 'constant-arrival-rate',
    rate: rate(standard),
    duration: duration(time),
    preAllocatedVUs: users,
    maxVUs: 2 * users,
  } as const;
}

function rate(standard: number): number {
  const given = __ENV['RATE'];
  const number = given === undefined ? standard : Number(given);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`Expected RATE to be a whole number from 1; got "${given}".`);
  return number;
}

function duration(standard: string): string {
  return __ENV['DURATION'] ?? standard;
}
