import { expect, it } from 'vitest';
import { type ExportedSpan, fakeCollector } from '../../../../src/chassis/testing/fake-collector.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';
import { startReplicatedPostgres } from '../../../support/replicated-postgres.ts';

const products = '/api/v1/products';
const servers = await startReplicatedPostgres();
await servers.create('traced');
const urls = { primary: servers.primary('traced'), replica: servers.replica('traced') };
const serverOf = (url: string) => ({
  'server.address': new URL(url).hostname,
  'server.port': Number(new URL(url).port),
});

it.each([
  ['JSON', {}, 'findMany Product'],
  ['the ORM', { DATABASE_JSON_READS: 'false' }, 'prisma:client:operation'],
])('names the server that a list was read from by %s', async (_reader, env, name) => {
  const collector = await fakeCollector();
  const app = await bootTestApp({
    provider: 'postgresql',
    env: {
      ...{ DATABASE_URL: urls.primary, DATABASE_READ_URL: urls.replica, DATABASE_READ_WAIT_MS: '2000' },
      ...{ DATABASE_MIGRATE: 'true', DATABASE_SEED: 'small', ...env },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
      ...{ OTEL_TRACES_SAMPLER: 'always_on', OTEL_BSP_SCHEDULE_DELAY: '10' },
    },
  });
  await expect.poll(() => app.service.database.replica?.isUsed).toBe(true);
  const from = collector.spans.length;
  const [{ id }] = await app.get(`${products}/paginated`).expectData();
  await app.get(`${products}/${id}`).expectData();
  await expect.poll(() => collector.spans.slice(from).filter(({ kind }) => kind === 2).length).toBe(2);
  const spans = collector.spans.slice(from);
  const parentOf = ({ parentSpanId }: ExportedSpan) => spans.find(({ spanId }) => spanId === parentSpanId);
  const ofList = spans.filter((span) => span.name === name && parentOf(span)?.name === 'read replica');
  expect(ofList.length).toBeGreaterThan(0);
  for (const query of ofList) expect(parentOf(query)?.attributes).toMatchObject(serverOf(urls.replica));
  expect(spans.filter((span) => span.name === 'read replica' && parentOf(span)?.kind !== 2)).toEqual([]);
  // A query by the ORM names no server of its own; outside of such a span it is of the primary.
  for (const query of spans.filter((span) => span.name.startsWith('find') && !ofList.includes(span))) {
    expect(query.attributes).toMatchObject(serverOf(urls.primary));
  }
});
