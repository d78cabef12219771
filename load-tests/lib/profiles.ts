import type { Scenario } from 'k6/options';

/** Users and time of a run. Read by k6 and by the command, so it reads no variable. */
export interface Profile {
  /** What it answers, as the help tells it. */
  readonly says: string;
  /**
   * `lossless` fails with the first request that fails, `shedding` lets the service say "not now" (503, 429) while it has
   * more than it can do, `breaking` goes on until a threshold is crossed, which is its result.
   */
  readonly kind: 'lossless' | 'shedding' | 'breaking';
  /** How often a user tries again who is told to by `Retry-After`; what is refused then is lost. Default 0. */
  readonly retries?: number;
  /** Whether times are judged: not those of a few cold requests, of a service that has too much to do, or of a closed loop. */
  readonly timed: boolean;
  /** Open models start iterations when they are due; closed ones when their user is free. */
  readonly model: 'open' | 'closed';
  /** Iterations per second at the height, for a scenario of weight 1; users of a closed model. */
  readonly rate: number;
  /** How long the height lasts. */
  readonly duration: string;
  /** What k6 does, of a rate and the seconds of the height. */
  readonly scenario: (rate: number, seconds: number) => Scenario;
}

/** Every profile. RATE and DURATION replace the numbers. */
export const profiles = {
  smoke: { ...open('does it work at all?', 5, '5s', constant), timed: false },
  // With its ramps 1,055 iterations: enough for p99.
  load: open('how fast is it at a steady load?', 20, '45s', (rate, seconds) =>
    ramping(1, rate, [ramp(rate, 10, seconds), stage(rate, seconds), ramp(0, 5, seconds)]),
  ),
  stress: {
    ...open('what happens at twice, four and eight times the load, and after it?', 20, '30s', (rate, seconds) =>
      steps([1, 2, 4, 8, 1], rate, seconds),
    ),
    kind: 'shedding',
    timed: false,
  },
  spike: {
    ...open('does it recover from ten times the load within two seconds?', 20, '15s', (rate, seconds) =>
      steps([1, 10, 1], rate, seconds),
    ),
    kind: 'shedding',
    timed: false,
  },
  soak: open('does it stay as fast and as small?', 20, '30m', constant),
  breakpoint: {
    ...open('at which rate does it break?', 2_000, '5m', (rate, seconds) => ramping(1, rate, [stage(rate, seconds)])),
    kind: 'breaking',
    timed: false,
  },
  rollout: {
    ...open('does anything fail while something else happens? Runs until it is interrupted', 50, '10m', constant),
    timed: false,
  },
  'closed-32': closed(32),
  'closed-128': closed(128),
} as const satisfies Record<string, Profile>;

/** Name of a profile. */
export type ProfileName = keyof typeof profiles;

function open(says: string, rate: number, duration: string, scenario: Profile['scenario']): Profile {
  return { says, kind: 'lossless', timed: true, model: 'open', rate, duration, scenario };
}

function closed(users: number): Profile {
  return {
    says: `how much do ${users} users get who pause only when they are told to?`,
    kind: 'shedding',
    retries: 10,
    timed: false,
    model: 'closed',
    rate: users,
    duration: '20s',
    scenario: (vus, seconds) => ({ executor: 'constant-vus', vus, duration: text(seconds) }),
  };
}

function constant(rate: number, seconds: number): Scenario {
  return { executor: 'constant-arrival-rate', rate, duration: text(seconds), ...usersFor(rate) };
}

interface Stage {
  target: number;
  duration: string;
}

/** To a rate within some seconds, evenly; at the rate of the stage before it that is a steady one. */
function stage(target: number, seconds: number): Stage {
  return { target, duration: text(seconds) };
}

/** A stage before or behind a height, within a quarter of it at most: of a short run too most is steady. */
function ramp(target: number, most: number, height: number): Stage {
  return stage(target, Math.min(most, height / 4));
}

/** Heights of some times the rate, one after the other. */
function steps(factors: readonly number[], rate: number, seconds: number): Scenario {
  const stages = factors.flatMap((factor) => [ramp(factor * rate, 2, seconds), stage(factor * rate, seconds)]);
  return ramping(rate, Math.max(...factors) * rate, stages);
}

function text(seconds: number): string {
  return `${Math.round(1000 * seconds)}ms`;
}

function ramping(startRate: number, highest: number, stages: Stage[]): Scenario {
  return { executor: 'ramping-arrival-rate', startRate, stages, ...usersFor(highest) };
}

/** As many users as iterations of two seconds need; an iteration for which no user is free is dropped. */
function usersFor(rate: number): { preAllocatedVUs: number; maxVUs: number } {
  return { preAllocatedVUs: Math.min(50, Math.max(10, rate)), maxVUs: Math.min(500, Math.max(20, 2 * rate)) };
}
