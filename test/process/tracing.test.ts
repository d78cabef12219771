import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ExportedSpan, fakeCollector } from '../../src/chassis/testing/fake-collector.ts';
import { anyProvider, emptyDatabase } from '../support/empty-database.ts';
import { OtlpCollector } from '../support/otlp-collector.ts';

const root = join(import.meta.dirname, '../..');
const requests = 200;

interface Line {
  requestId?: string;
  traceId?: string;
  userId?: string;
  seen?: string;
  msg: string;
}

/** Spawns a service that exports spans and prints warnings with their origin. */
async function spawnRelay(name: string, collectorUrl: string, protocol = 'http/json') {
  const { settings, remove } = await emptyDatabase(anyProvider);
  onTestFinished(remove);
  const child = spawn(process.execPath, ['--trace-warnings', 'dist-test/test/fixtures/relay/main.js'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      OVERLOAD_ENABLED: 'false',
      ...{ HOST: '127.0.0.1', INTERNAL_PORT: '0', NODE_ENV: 'test', LOG_LEVEL: 'info' },
      ...{ DATABASE_URL: settings.DATABASE_URL, DATABASE_MIGRATE: 'true', ENABLE_OPENAPI: 'false' },
      ...{
        OTEL_SERVICE_NAME: name,
        OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      },
      ...{ OTEL_BSP_SCHEDULE_DELAY: '50', RATE_LIMIT_ENABLED: 'false' },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const written = { stdout: '', stderr: '' };
  child.stderr.on('data', (chunk) => {
    written.stderr += chunk;
  });
  return {
    url: await listeningAt(child, written),
    /** Ends the service and gives what it wrote. */
    async end(): Promise<{ lines: Line[]; warnings: string; code: number }> {
      child.kill('SIGTERM');
      const [code] = await once(child, 'close');
      const lines = written.stdout.trim().split('\n');
      return { lines: lines.map((line) => JSON.parse(line)), warnings: written.stderr, code };
    },
  };
}

/** The address that the start-up report names. */
function listeningAt(child: ChildProcess, written: { stdout: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      written.stdout += chunk;
      const url = /ready at (http:\/\/[^\s",]+)/.exec(written.stdout)?.[1];
      if (url) resolve(url);
    });
    child.once('exit', () => reject(new Error(`The service ended before it listened:\n${written.stdout}`)));
  });
}

describe('two services that call each other', () => {
  it('share a trace per request, and 200 concurrent requests never mix in spans and lines', {
    timeout: 60_000,
  }, async () => {
    const collector = await fakeCollector();
    const [front, back] = await Promise.all([spawnRelay('front', collector.url), spawnRelay('back', collector.url)]);
    await Promise.all(
      Array.from({ length: requests }, async (_, index) => {
        const to = `${front.url}/relay/user-${index}?to=${encodeURIComponent(`${back.url}/relay/user-${index}`)}`;
        const response = await fetch(to, { headers: { 'x-request-id': `request-${index}` } });
        expect(await response.json()).toEqual({ user: `user-${index}`, answer: { user: `user-${index}` } });
      }),
    );
    const ends = await Promise.all([front.end(), back.end()]);
    for (const { code, warnings } of ends) expect({ code, warnings }).toEqual({ code: 0, warnings: '' });
    const userOfTrace = expectOneTracePerUser(collector.spans);
    for (const { lines } of ends) expectLinesOfOneUser(lines, userOfTrace);
  });
});

describe.each(['axios', 'http'])('three services, of which one calls by %s and one by fetch', (client) => {
  it('are one trace, exported by the SDK from the build, by gRPC', { timeout: 60_000 }, async () => {
    const collector = await OtlpCollector.start();
    const url = collector.url('grpc');
    const [front, middle, back] = await Promise.all(
      ['front', 'middle', 'back'].map((name) => spawnRelay(name, url, 'grpc')),
    );
    const last = encodeURIComponent(`${back?.url}/relay/u`);
    const next = encodeURIComponent(`${middle?.url}/relay/u?to=${last}`);
    expect((await fetch(`${front?.url}/relay/u?by=${client}&to=${next}`)).status).toBe(200);
    await Promise.all([front?.end(), middle?.end(), back?.end()]);
    const { spans } = collector;
    const parentOf = (span?: (typeof spans)[number]) => spans.find(({ spanId }) => spanId === span?.parentSpanId);
    let span = spans.find(({ service, name }) => service === 'back' && name === 'GET /relay/:user');
    const way = [];
    for (; span; span = parentOf(span)) way.push(`${span.service} ${span.name}`);
    expect(way).toEqual([
      'back GET /relay/:user',
      'middle GET',
      'middle GET /relay/:user',
      'front GET',
      'front GET /relay/:user',
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId))).toHaveProperty('size', 1);
  });
});

/** front server -> front client -> back server, and the queries of both below their server spans. */
function expectOneTracePerUser(spans: readonly ExportedSpan[]): Map<string, string> {
  const known = new Map(spans.map((span) => [span.spanId, span]));
  const parentOf = (span: ExportedSpan | undefined) => known.get(span?.parentSpanId ?? '');
  const userOfTrace = new Map<string, string>();
  const servers = spans.filter(({ kind }) => kind === 2);
  expect(servers).toHaveLength(2 * requests);
  for (const back of servers.filter(({ service }) => service === 'back')) {
    const client = parentOf(back);
    const front = parentOf(client);
    expect(client).toMatchObject({ kind: 3, service: 'front', traceId: back.traceId });
    expect(front).toMatchObject({ kind: 2, service: 'front', traceId: back.traceId, name: 'GET /relay/:user' });
    expect(front?.attributes['user.id']).toBe(back.attributes['user.id']);
    expect(client?.attributes['url.path']).toBe(`/relay/${back.attributes['user.id']}`);
    userOfTrace.set(back.traceId, String(back.attributes['user.id']));
  }
  expect(new Set(userOfTrace.values()).size).toBe(requests);
  const queries = spans.filter(({ name }) => name === 'prisma:client:operation');
  expect(queries).toHaveLength(2 * requests);
  for (const query of queries)
    expect(parentOf(query)).toMatchObject({ kind: 2, traceId: query.traceId, service: query.service });
  return userOfTrace;
}

function expectLinesOfOneUser(lines: readonly Line[], userOfTrace: ReadonlyMap<string, string>): void {
  const ofRequests = lines.filter(({ requestId }) => requestId !== undefined);
  expect(ofRequests).toHaveLength(2 * requests);
  for (const { requestId, traceId, userId, seen } of ofRequests) {
    const user = userOfTrace.get(traceId ?? '');
    expect(userId ?? seen).toBe(user);
    expect(requestId).toBe(user?.replace('user', 'request'));
  }
}
