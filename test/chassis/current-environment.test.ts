import { once } from 'node:events';
import { flush } from '@sentry/node';
import { Counter } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import { type createService, registerMetric, reportError } from '../../src/chassis/index.ts';
import { SentryIngest } from '../../src/chassis/testing/sentry-ingest.ts';
import { bootTestApp } from '../support/boot-test-app.ts';
import { memoryLog } from './http/bare-app.ts';
import { seriesOf } from './telemetry/metrics/scrape.ts';

const ingest = await SentryIngest.start();
afterAll(() => ingest[Symbol.asyncDispose]());
const log = memoryLog('info');
const app = await bootTestApp({ env: { SENTRY_DSN: ingest.dsn, DATABASE_URL: 'none' }, configure, logger: log.logger });
const other = await bootTestApp({ env: { DATABASE_URL: 'none' }, configure });

function configure(config: Parameters<typeof createService>[0]) {
  return { ...config, modules: [] };
}

async function series(of: typeof app): Promise<Record<string, number>> {
  return seriesOf((await of.internal.get('/metrics')).text);
}

describe('reportError', () => {
  it('brings a fault from outside a request to log, monitor and metrics', async () => {
    app.service.run(() => reportError(new RangeError('no stock left'), { job: 'restock', apiToken: 'hidden' }));
    await flush(5_000);
    expect(log.lines.filter(({ level }) => level === 'error')).toMatchObject([
      {
        msg: 'no stock left',
        job: 'restock',
        apiToken: '[redacted]',
        error: { stack: expect.stringContaining('RangeError') },
      },
    ]);
    expect(ingest.events).toMatchObject([
      {
        exception: { values: [{ type: 'RangeError', value: 'no stock left' }] },
        contexts: { operation: { job: 'restock', apiToken: '[redacted]' } },
      },
    ]);
    expect((await series(app))['errors_reported_total{exception="Error"}']).toBe(1);
    expect((await series(other))['errors_reported_total{exception="Error"}']).toBeUndefined();
  });

  it('is heard by the first service where two are open and nothing says which is meant', async () => {
    reportError('a text');
    expect((await series(app))['errors_reported_total{exception="Error"}']).toBe(2);
  });
});

describe('registerMetric', () => {
  const orders = (of: typeof app) =>
    of.service.run(() => registerMetric(new Counter({ name: 'orders_total', help: 'Orders.', registers: [] })));

  it('counts for one service what is not of the other', async () => {
    orders(app).inc(2);
    orders(other).inc(5);
    expect([(await series(app))['orders_total'], (await series(other))['orders_total']]).toEqual([2, 5]);
  });

  it('leaves what prom-client keeps by itself to the process: both services show it', async () => {
    new Counter({ name: 'greetings_total', help: 'Greetings.' }).inc();
    expect([(await series(app))['greetings_total'], (await series(other))['greetings_total']]).toEqual([1, 1]);
  });
});

describe('without a service', () => {
  it('reportError warns and raises nothing', async () => {
    await Promise.all([app.service.close(), other.service.close()]);
    const warned = once(process, 'warning');
    reportError(new Error('nobody is there'));
    expect(await warned).toEqual([expect.objectContaining({ message: 'nobody is there' })]);
  });
});
