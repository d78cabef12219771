import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { profiles } from '../../load-tests/lib/profiles.ts';
import { root, skipped, tool } from '../chart/chart.ts';

/** What k6 reads of a scenario under a profile. */
interface Plan {
  rate?: number;
  vus?: number;
}

async function inspected(scenario: string, variables: Record<string, string>) {
  const settings = Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const file = join(root, `load-tests/scenarios/${scenario}.ts`);
  const { stdout } = await promisify(execFile)(tool('k6') ?? '', ['inspect', ...settings, file]);
  return JSON.parse(stdout) as { scenarios: Record<string, Plan>; thresholds: Record<string, object[]> };
}

async function planned(scenario: string, variables: Record<string, string>): Promise<Plan> {
  return (await inspected(scenario, variables)).scenarios[scenario] ?? {};
}

describe.skipIf(skipped('k6'))(`the plan of a run${skipped('k6')}`, () => {
  it('has the rate that was asked for, times the weight of the scenario, as the rate of the profile', async () => {
    const rateOf = async (scenario: string, RATE?: string) =>
      (await planned(scenario, { PROFILE: 'soak', ...(RATE && { RATE }) })).rate;
    expect(await Promise.all(['read-one', 'list-include', 'export'].map((name) => rateOf(name)))).toEqual([20, 8, 4]);
    expect(await Promise.all(['read-one', 'list-include', 'export'].map((name) => rateOf(name, '50')))).toEqual([
      50, 20, 10,
    ]);
    expect(await rateOf('export', '1')).toBe(1);
  });

  it('has the users of a closed profile, whatever the scenario weighs', async () => {
    expect((await planned('export', { PROFILE: 'closed-32' })).vus).toBe(32);
    expect((await planned('export', { PROFILE: 'closed-32', RATE: '8' })).vus).toBe(8);
  });

  it('fails without a single request, whose times would be the best of all', async () => {
    const { thresholds } = await inspected('read-one', {});
    expect(JSON.stringify(thresholds['http_reqs{scenario:read-one}'])).toContain('count>0');
  });

  it('is refused where RATE or DURATION is none', async () => {
    await expect(planned('read-one', { RATE: 'many' })).rejects.toThrow('Expected RATE');
    await expect(planned('read-one', { DURATION: '5' })).rejects.toThrow('Expected DURATION');
  });
});

describe('a profile', () => {
  /** Seconds of each stage of a profile at 20/s, and the rates at its start and end. */
  function stagesOf(profile: 'load' | 'stress' | 'spike', height: number) {
    const { startRate, stages } = profiles[profile].scenario(20, height) as {
      startRate: number;
      stages: { target: number; duration: string }[];
    };
    return stages.map(({ target, duration }, index) => ({
      ...{ from: stages[index - 1]?.target ?? startRate, to: target },
      seconds: Number(/^(\d+)ms$/.exec(duration)?.[1]) / 1000,
    }));
  }

  it.each([
    ['load', 1, 1 / 1.5],
    ['load', 5, 5 / 7.5],
    ['load', 45, 45 / 60],
    ['stress', 1, 5 / 6.25],
    ['spike', 1, 3 / 3.75],
    ['spike', 15, 45 / 51],
  ] as const)('%s is steady most of the time, of a height of %d s too', (profile, height, share) => {
    const stages = stagesOf(profile, height);
    const sum = (some: typeof stages) => some.reduce((total, { seconds }) => total + seconds, 0);
    expect(sum(stages.filter(({ from, to }) => from === to)) / sum(stages)).toBeGreaterThanOrEqual(share);
  });

  it('has a thousand iterations in load, which p99 takes', () => {
    const iterations = stagesOf('load', 45).map(({ from, to, seconds }) => ((from + to) / 2) * seconds);
    expect(iterations.reduce((sum, count) => sum + count)).toBeGreaterThan(1_000);
    expect(profiles.load.duration).toBe('45s');
  });
});
