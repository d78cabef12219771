import { get } from 'node:http';
import { expect, it } from 'vitest';
import { readEnvironment } from '../../../src/chassis/config/environment.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';
import { memoryLog } from '../http/bare-app.ts';

const token = 'a token of sixteen and more';
const log = memoryLog('warn');
const open = await bootTestApp({
  logger: log.logger,
  env: { DATABASE_URL: 'none', DIAGNOSTICS_ENABLED: 'true', INTERNAL_TOKEN: token },
  configure: (config) => ({ ...config, modules: [] }),
});
const closed = await bootTestApp({
  env: { DATABASE_URL: 'none', INTERNAL_TOKEN: token },
  configure: (config) => ({ ...config, modules: [] }),
});
const headers = { authorization: `Bearer ${token}` };
const ask = (path: string, app = open, more: RequestInit = { headers }) => fetch(`${app.internalUrl}${path}`, more);

const started = () => log.lines.filter(({ msg }) => msg === 'CPU profile started').length;

it.each(['/profile/cpu', '/profile/heap'])(
  '%s is off by default, and nobody gets it without the token',
  async (path) => {
    expect((await ask(path, closed)).status).toBe(404);
    expect((await ask(path, open, {})).status).toBe(401);
  },
);

it('gives a CPU profile of the time that was asked for, one at a time', async () => {
  const began = performance.now();
  const first = ask('/profile/cpu?seconds=1');
  await expect.poll(started).toBe(1);
  expect((await ask('/profile/heap')).status).toBe(409);
  const profile = (await (await first).json()) as { nodes: object[]; startTime: number; endTime: number };
  expect(profile.nodes.length).toBeGreaterThan(1);
  expect(profile.endTime - profile.startTime).toBeGreaterThan(900_000);
  expect(performance.now() - began).toBeLessThan(20_000);
});

it.each(['0', '61', 'x', '-1', ''])('takes no profile of %j seconds', async (seconds) => {
  expect((await ask(`/profile/cpu?seconds=${seconds}`)).status).toBe(400);
});

it('ends a profile whose client has gone, so that the next may begin', async () => {
  const before = started();
  const asked = get(`${open.internalUrl}/profile/cpu?seconds=60`, { headers });
  asked.on('error', () => undefined);
  await expect.poll(started).toBe(before + 1);
  asked.destroy();
  await expect.poll(async () => (await ask('/profile/cpu?seconds=1')).status, { timeout: 10_000 }).toBe(200);
});

it('streams a heap snapshot', { timeout: 60_000 }, async () => {
  const answer = await ask('/profile/heap');
  expect(answer.status).toBe(200);
  let text = '';
  let bytes = 0;
  for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
    if (bytes === 0) text = new TextDecoder().decode(chunk);
    bytes += chunk.length;
  }
  expect(text).toMatch(/^\{"snapshot":\{"meta"/);
  expect(bytes).toBeGreaterThan(1_000_000);
  await expect.poll(async () => (await ask('/profile/cpu?seconds=1')).status, { timeout: 10_000 }).toBe(200);
});

it('tells the settings that hold, where each came from, and no secret', async () => {
  expect((await ask('/config', open, {})).status).toBe(401);
  await ask('/log-level', open, { method: 'PUT', headers, body: '{"level":"warn"}' });
  const { settings } = (await (await ask('/config')).json()) as { settings: Record<string, object> };
  expect(settings).toMatchObject({
    INTERNAL_TOKEN: { value: '[redacted]', from: 'environment' },
    LOG_LEVEL: { value: 'warn', from: 'environment' },
    METRICS_SERIES_LIMIT: { value: 2000, from: 'default' },
  });
  expect(JSON.stringify(settings)).not.toContain(token);
});

it('needs the token to be set where it is on', () => {
  expect(() => readEnvironment({}, { DIAGNOSTICS_ENABLED: 'true' })).toThrow(
    /DIAGNOSTICS_ENABLED: expected INTERNAL_TOKEN/,
  );
});
