import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SentryIngest } from '../support/sentry-ingest.ts';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

const routes = 'test/fixtures/trouble/modules/trouble/trouble.routes.ts';
const lines = readFileSync(join(import.meta.dirname, '../..', routes), 'utf8').split('\n');
const planted = lines.findIndex((line) => line.includes('the planted bug')) + 1;

afterAll(killSpawned);

it('leads from one 500 of the built service to its line, log and trace, as docs/on-call.md says', async () => {
  await using ingest = await SentryIngest.start();
  const service = new SpawnedService({
    program: ['dist-test/test/fixtures/trouble/main.js', 'trouble'],
    env: { ENABLE_OPENAPI: 'false', SENTRY_DSN: ingest.dsn, SENTRY_RELEASE: 'slipway@1.2.3' },
  });
  const { url, internalUrl } = await service.ready();
  const response = await fetch(`${url}/bug`);
  expect(response.status).toBe(500);
  const requestId = response.headers.get('x-request-id');

  const metrics = await (await fetch(`${internalUrl}/metrics`)).text();
  expect(metrics).toMatch(/http_request_duration_seconds_count\{method="GET",route="\/bug",status="500"\} 1/);
  expect(metrics).toContain('exceptions_total{exception="InternalServerErrorException",status="500"} 1');

  const [event] = await ingest.received(1);
  const bug = event?.exception.values.at(-1);
  expect(`${bug?.type}: ${bug?.value}`).toBe("TypeError: Cannot read properties of undefined (reading 'name')");
  expect(bug?.stacktrace?.frames.at(-1)).toMatchObject({
    filename: expect.stringMatching(/src\/modules\/.*trouble\.routes\.ts$|trouble\.routes\.ts$/),
    lineno: planted,
    in_app: true,
    context_line: expect.stringContaining('the planted bug'),
  });
  expect(event).toMatchObject({ release: 'slipway@1.2.3', transaction: 'GET /bug', tags: { request_id: requestId } });

  await service.end();
  const ofRequest = service.lines.filter((line) => line['requestId'] === requestId);
  expect(ofRequest.map(({ level, msg }) => [level, msg])).toEqual([
    ['info', 'about to fail'],
    ['error', "Cannot read properties of undefined (reading 'name')"],
    ['info', 'request completed'],
  ]);
  expect(ofRequest[1]).toMatchObject({ error: { stack: expect.stringContaining(`trouble.routes.ts:${planted}:`) } });
  expect(new Set(ofRequest.map((line) => line['traceId']))).toEqual(new Set([event?.contexts.trace.trace_id]));
});
