import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { Response } from 'express';
import { describe, expect, it } from 'vitest';
import { BaseException, BusinessException } from '../../../../src/chassis/errors/exceptions.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { Metrics } from '../../../../src/chassis/telemetry/metrics/metrics.ts';
import { bareApp, memoryLog } from '../../http/bare-app.ts';
import { listening } from '../../http/listening.ts';
import { openMetrics, seriesOf } from './scrape.ts';

describe('Metrics', () => {
  const seriesIn = async (metrics: Metrics) => seriesOf((await metrics.text()).text);
  const exceptions = async (metrics: Metrics) =>
    Object.entries(await seriesIn(metrics)).filter(([name]) => /^exceptions/.test(name));
  const start = () =>
    new Metrics({
      seriesLimit: 10,
      build: { version: '1.2.3', revision: 'abc' },
      pool: () => undefined,
      log: memoryLog().logger,
    });

  it('begin at zero, whatever others of this process have counted', async () => {
    const first = start();
    first.reporter.report(new BusinessException('Once'), undefined);
    const second = start();
    expect(await exceptions(first)).toEqual([['exceptions_total{exception="BusinessException",status="400"}', 1]]);
    expect(await exceptions(second)).toEqual([]);
    expect((await seriesIn(second))['build_info{version="1.2.3",revision="abc"}']).toBe(1);
  });

  it('are written once for all scrapes of a turn of the event loop in one format, and anew for the next', async () => {
    const metrics = start();
    await metrics.text();
    const accepts = [undefined, openMetrics, 'text/plain', openMetrics];
    const [plain, open, ...others] = await Promise.all(accepts.map((accept) => metrics.text(accept)));
    expect(others).toEqual([plain, open]);
    expect([others[0] === plain, others[1] === open, plain === open]).toEqual([true, true, false]);
    metrics.reporter.report(new BusinessException('Once'), undefined);
    expect(await exceptions(metrics)).toHaveLength(1);
  });

  it('have the bytes in memory once for all scrapes that share them', async () => {
    const metrics = start();
    const [one, other] = await Promise.all([metrics.text(), metrics.text()]);
    expect(one?.bytes).toBe(other?.bytes);
    expect(one?.bytes.toString()).toBe(one?.text);
  });

  it('counts a request in flight until it ends, and one whose client went away unanswered as 499', async () => {
    const metrics = start();
    const { observer } = metrics;
    const requests = async () =>
      Object.entries(await seriesIn(metrics))
        .filter(([name]) => /^http_requests_in_flight|^http_request_duration_seconds_count/.test(name))
        .map(([name, value]) => `${name} ${value}`);
    const reached = Promise.withResolvers<Response>();
    const pending = bareApp([requestPipeline({ observers: [observer] }), (_req, res) => reached.resolve(res)]);
    await using server = await listening(createServer(pending));
    const hanging = request({ port: server.port }).on('error', () => undefined);
    hanging.end();
    const unanswered = await reached.promise;
    expect(await requests()).toEqual(['http_requests_in_flight 1']);
    hanging.destroy();
    await once(unanswered, 'close');
    expect((await requests()).toSorted()).toEqual([
      'http_request_duration_seconds_count{method="GET",route="unmatched",status="499"} 1',
      'http_requests_in_flight 0',
    ]);
  });

  it('counts a class that is not in the catalogue under the one that it extends, else as Error', async () => {
    class OutOfStock extends BusinessException {}
    const metrics = start();
    const { reporter } = metrics;
    reporter.report(new OutOfStock('None left'), undefined);
    reporter.report(new BaseException('Teapot', 418), undefined);
    expect(Object.fromEntries(await exceptions(metrics))).toEqual({
      'exceptions_total{exception="BusinessException",status="400"}': 1,
      'exceptions_total{exception="Error",status="418"}': 1,
    });
  });
});
