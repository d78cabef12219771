import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { fakeCollector } from '../../src/chassis/testing/fake-collector.ts';
import { SentryIngest } from '../../src/chassis/testing/sentry-ingest.ts';
import { builtFixture } from '../support/built.ts';
import { failOverTime, onCallPictures } from '../support/on-call-pictures.ts';
import { TestPrometheus, withoutPrometheus } from '../support/prometheus.ts';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

const root = join(import.meta.dirname, '../..');
const source = 'test/fixtures/observed/modules/shipments/shipment.service.ts';
const planted =
  readFileSync(join(root, source), 'utf8')
    .split('\n')
    .findIndex((line) => line.includes('the planted bug')) + 1;
const route = '/api/v1/shipments/:id/label';
/** Where the pictures of docs/how-to/on-call.md go: ON_CALL_PICTURES=docs/how-to/on-call npm test -- test/process/on-call */
const pictures = process.env['ON_CALL_PICTURES'];

afterAll(killSpawned);

/** What the first panel asks. */
function failingRoutes(): string {
  const { panels } = JSON.parse(readFileSync(join(root, 'helm/slipway/files/dashboards/service.json'), 'utf8'));
  const { targets } = panels.find(({ title }: { title: string }) => title === 'Failing routes');
  return targets[0].expr
    .replaceAll('$job', 'orders')
    .replaceAll('$namespace', 'shop')
    .replaceAll('$__rate_interval', '10s');
}

/** The calls of the internal port that docs/how-to/on-call.md shows. */
function commandsOfPage(): string[] {
  const page = readFileSync(join(root, 'docs/how-to/on-call.md'), 'utf8');
  const commands = [...page.matchAll(/^curl .*$|`(curl [^`]*)`/gm)].map(([line, inline]) => inline ?? line);
  expect(commands.length).toBeGreaterThan(2);
  return commands;
}

it(`leads from one 500 of the built service to its line, log and trace, as docs/how-to/on-call.md says${withoutPrometheus}`, {
  timeout: 120_000,
}, async () => {
  await using ingest = await SentryIngest.start();
  const collector = await fakeCollector();
  const service = new SpawnedService({
    program: [builtFixture('observed')],
    env: {
      ...{ ENABLE_OPENAPI: 'false', DATABASE_MIGRATE: 'true', CARRIER_URL: 'http://127.0.0.1:9' },
      ...{ SENTRY_DSN: ingest.dsn, SENTRY_RELEASE: 'slipway@1.2.3' },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
  const { url, internalUrl } = await service.ready();
  const prometheus = withoutPrometheus ? undefined : await TestPrometheus.start(internalUrl);
  if (pictures) await failOverTime(url, 30);
  const response = await fetch(`${url}/api/v1/shipments/7/label`);
  expect(response.status).toBe(500);
  const requestId = response.headers.get('x-request-id');

  // 1. Which route: the panel names it, the metrics the exception, the exemplar a trace.
  const metrics = await (await fetch(`${internalUrl}/metrics`)).text();
  expect(metrics).toContain(`http_request_duration_seconds_count{method="GET",route="${route}",status="500"} `);
  expect(metrics).toContain('exceptions_total{exception="InternalServerErrorException",status="500"} ');
  if (prometheus) {
    const shown = async () => {
      // One more of it, between two scrapes.
      await fetch(`${url}/api/v1/shipments/8/label`);
      return (await prometheus.query(failingRoutes())).filter(({ value }) => value > 0).map(({ metric }) => metric);
    };
    await expect.poll(shown, { timeout: 60_000, interval: 300 }).toContainEqual({ method: 'GET', route });
    const exemplars = await prometheus.exemplars(`http_request_duration_seconds_bucket{route="${route}"}`);
    await collector.until(() =>
      exemplars.every(({ traceId }) => collector.spans.some((span) => span.traceId === traceId)),
    );
    expect(exemplars.length).toBeGreaterThan(0);
  }

  // What the page has somebody type, with the ids of this request in place of those in its pictures.
  for (const command of commandsOfPage()) {
    const typed = command.replaceAll('localhost:9464', new URL(internalUrl).host);
    const { status, stdout } = spawnSync('bash', ['-c', `set -o pipefail; ${typed}`], { encoding: 'utf8' });
    expect({ typed, status, said: stdout !== '' }).toEqual({ typed, status: 0, said: true });
  }

  // 2. Which line.
  await expect.poll(() => ingest.events.some(({ tags }) => tags['request_id'] === requestId)).toBe(true);
  const event = ingest.events.find(({ tags }) => tags['request_id'] === requestId);
  const bug = event?.exception.values.at(-1);
  expect(`${bug?.type}: ${bug?.value}`).toBe("TypeError: Cannot read properties of undefined (reading 'name')");
  expect(event).toMatchObject({
    culprit: `${source}:${planted} in ShipmentService.label`,
    release: 'slipway@1.2.3',
    transaction: `GET ${route}`,
  });
  expect(bug?.stacktrace?.frames.at(-1)).toMatchObject({
    filename: expect.stringContaining(source),
    lineno: planted,
    in_app: true,
    context_line: expect.stringContaining('the planted bug'),
  });
  expect(new Set(ingest.events.map(({ fingerprint }) => fingerprint.join()))).toHaveProperty('size', 1);

  // 3. What the log says, and 4. what it waited for.
  const traceId = event?.contexts.trace.trace_id;
  const spans = () => collector.spans.filter((span) => span.traceId === traceId);
  await collector.until(() => spans().some(({ name }) => name === `GET ${route}`));
  const span = spans().find(({ name }) => name === `GET ${route}`);
  expect(span?.events.map(({ attributes }) => [attributes['exception.type'], attributes['exception.message']])).toEqual(
    [['TypeError', bug?.value]],
  );
  expect(spans().map(({ parentSpanId }) => parentSpanId)).toContain(span?.spanId);
  await service.end();
  const lines = service.lines.filter((line) => line['requestId'] === requestId);
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    ['error', "Cannot read properties of undefined (reading 'name')"],
    ['info', 'request completed'],
  ]);
  expect(lines[0]).toMatchObject({ error: { stack: expect.stringContaining(`shipment.service.ts:${planted}:`) } });
  expect(new Set(lines.map((line) => line['traceId']))).toEqual(new Set([traceId]));

  if (event === undefined || prometheus === undefined) return;
  const series = await prometheus.range(failingRoutes(), pictures ? 60 : 5);
  const drawn = onCallPictures({ series, event, lines, spans: spans() });
  expect(drawn['sentry-issue.svg']).toContain('the planted bug');
  expect(drawn['trace.svg']).toContain(route);
  for (const picture of Object.values(drawn)) expect(picture.length).toBeLessThan(20_000);
  if (pictures === undefined) return;
  mkdirSync(join(root, pictures), { recursive: true });
  for (const [name, picture] of Object.entries(drawn)) writeFileSync(join(root, pictures, name), picture);
});
