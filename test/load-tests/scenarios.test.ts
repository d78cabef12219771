import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scenarios } from '../../load-tests/run/k6.ts';
import { root, skipped, tool } from '../chart/chart.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

const quick = { RATE: '10', DURATION: '1s' };

/** Runs a scenario with k6, for a moment. */
async function run(scenario: string, target: string, variables: Record<string, string> = quick): Promise<Outcome> {
  const settings = Object.entries({ BASE_URL: target, ...variables }).flatMap(([name, value]) => [
    '-e',
    `${name}=${value}`,
  ]);
  const env = { ...process.env, K6_NO_USAGE_REPORT: 'true', K6_AUTO_EXTENSION_RESOLUTION: 'false' };
  const file = join(root, `load-tests/scenarios/${scenario}.ts`);
  return promisify(execFile)(tool('k6') ?? '', ['run', '--quiet', ...settings, file], { env }).then(
    (ended) => ({ ...ended, code: 0 }),
    (failed: Outcome) => failed,
  );
}

/** A service that answers every page with these records, whatever the page is. */
async function alwaysAnswering(answer: object): Promise<string> {
  const server = createServer((_req, res) => res.end(JSON.stringify(answer))).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.skipIf(skipped('k6'))(`a load test${skipped('k6')}`, () => {
  it.each(scenarios)('%s finds the contract kept and nothing failed', async (scenario) => {
    const { url } = await bootTestApp();
    // How long answers take depends on the machine; only that may cross a threshold.
    const { stdout } = await run(scenario, url);
    expect(stdout).toMatch(new RegExp(`^${scenario} +smoke +\\d+ +\\d+ +0 +0 +0 `, 'm'));
  });

  it('finds pages that overlap, are out of order or lack a Link', async () => {
    const data = Array.from({ length: 20 }, (_, index) => ({ id: `${99 - index}`, price: 1 }));
    const { code, stdout } = await run(
      'list-shallow',
      await alwaysAnswering({ data, page: 1, pageSize: 20, total: 5000 }),
    );
    expect(stdout).toContain('checks rate==1');
    expect(code).toBe(99);
  });

  it('refuses a target where nothing answers, and says what to do', async () => {
    const { code, stdout, stderr } = await run('read-one', 'http://127.0.0.1:9');
    expect(stderr).toContain('nothing answers at http://127.0.0.1:9');
    expect(stderr).toContain('npm run load');
    expect(stdout).toBe('');
    expect(code).toBe(108);
  });

  it('refuses a target with too little to list, and says what to do', async () => {
    const { url, orm } = await bootTestApp();
    await orm.product.deleteMany({});
    const { code, stderr } = await run('list-filtered', url);
    expect(stderr).toContain('has 0 products, expected at least 1000');
    expect(stderr).toContain('npm run db:seed');
    expect(code).toBe(108);
  });

  it('refuses a profile and a rate that there are not', async () => {
    expect((await run('read-one', 'http://127.0.0.1:9', { PROFILE: 'huge' })).stderr).toContain('smoke, load, rollout');
    expect((await run('read-one', 'http://127.0.0.1:9', { RATE: 'many' })).stderr).toContain('got \\"many\\"');
  });
});
