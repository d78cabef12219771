import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger, createService } from '../../src/chassis/index.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';

const modulesDirectory = join(import.meta.dirname, '../fixtures/modules-embedded');
const destination = pino.destination({ dest: '/dev/null', sync: true });
const lines: Record<'one' | 'two', string[]> = { one: [], two: [] };

function boot(name: 'one' | 'two', trusted: string): Promise<TestApp> {
  const modules = ['caller', 'shared'].map((module) => ({ name: module, enabled: true, routesPrefix: `/${name}` }));
  return bootTestApp({
    env: { DATABASE_URL: 'none', OUTBOUND_TRUSTED_HOSTS: trusted },
    configure: (config) => ({ ...config, modules }),
    modulesDirectory,
    logger: createLogger({ level: 'info', destination: { write: (line) => void lines[name].push(line) } }),
  });
}

const one = await boot('one', '*');
const two = await boot('two', 'none');

describe('two services of one process', () => {
  it('trust each their own hosts with the id and the baggage of a request', async () => {
    const echo = createServer((req, res) => res.end(JSON.stringify(req.headers))).listen(0, '127.0.0.1');
    onTestFinished(() => void echo.close());
    await once(echo, 'listening');
    const { port } = echo.address() as AddressInfo;
    const headers = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, baggage: 'k=v', 'x-request-id': 'id' };
    const sent = async (app: TestApp, path: string) => {
      const { fetch, http } = await app.send((server) => server.get(path).query({ port }).set(headers)).expectData();
      return [fetch, http];
    };
    const trace = expect.stringContaining('a'.repeat(32));
    for (const got of await sent(one, '/one/sent')) {
      expect(got).toMatchObject({ traceparent: trace, baggage: 'k=v', 'x-request-id': 'id' });
    }
    for (const got of await sent(two, '/two/sent')) {
      expect([got.traceparent, got.baggage, got['x-request-id']]).toEqual([trace, undefined, undefined]);
    }
  });

  it('take a logger of createLogger each, whose lines name their request and mask secrets', async () => {
    for (const [app, name] of [
      [one, 'one'],
      [two, 'two'],
    ] as const) {
      await app.send((server) => server.get(`/${name}/failure`).set('x-request-id', `id-of-${name}`)).expectData();
      const line = lines[name].find((text) => text.includes('connecting failed')) ?? '';
      expect(JSON.parse(line)).toMatchObject({ level: 'error', requestId: `id-of-${name}` });
      expect(line).not.toMatch(/hunter2|geheim/);
      expect(lines[name === 'one' ? 'two' : 'one'].join('')).not.toContain(`id-of-${name}`);
    }
  });

  it('label the routes of a router that both mount each by its own prefix', async () => {
    await one.get('/one/items/1').expectData();
    await two.get('/two/items/1').expectData();
    for (const [app, own, other] of [
      [one, '/one/items/:id', '/two/items/:id'],
      [two, '/two/items/:id', '/one/items/:id'],
    ] as const) {
      const { text } = await app.internal.get('/metrics');
      expect(text).toContain(`route="${own}"`);
      expect(text).not.toContain(`route="${other}"`);
    }
  });

  it('refuse a logger that would mask nothing', () => {
    const make = () => createService({ modules: [], server: { port: 0 } }, { env: {}, logger: pino({}, destination) });
    expect(make).toThrow(/^Expected a logger of createLogger\(\), found another.*pass createLogger/);
  });
});
