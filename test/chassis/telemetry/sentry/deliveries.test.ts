import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { InternalServerErrorException } from '../../../../src/chassis/errors/exceptions.ts';
import { boundedTransport } from '../../../../src/chassis/telemetry/sentry/bounded-transport.ts';
import { SentryIngest } from '../../../../src/chassis/testing/sentry-ingest.ts';
import { memoryLog } from '../../http/bare-app.ts';
import { aContext, sentryTo } from './sentry-to.ts';

describe('the ingest', () => {
  it('takes large events compressed, at the path of the project', async () => {
    await using ingest = await SentryIngest.start();
    const sentry = await sentryTo(ingest.dsn);
    const context = { notes: Array.from({ length: 60 }, (_, index) => `${index}`.repeat(1_000)) };
    sentry.monitor.capture(new InternalServerErrorException('large', undefined, { context }), aContext());
    await ingest.received(1);
    expect(ingest.requests).toEqual(['POST /api/1/envelope/ gzip']);
  });

  it('that never answers delays nothing, and close ends on time', async () => {
    await using ingest = await SentryIngest.start();
    ingest.answer = 'never';
    const sentry = await sentryTo(ingest.dsn);
    const contacted = ingest.contacted();
    for (let n = 0; n < 300; n++) {
      sentry.monitor.capture(new InternalServerErrorException(), aContext({ requestId: `request-${n}` }));
    }
    await contacted;
    const started = performance.now();
    expect(await sentry.flush(200)).toBe(false);
    expect(await sentry.close(200)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_500);
  });

  it.each([429, 500, 403])('that answers %i costs the events and one line', async (status) => {
    const { logger, lines } = memoryLog('info');
    await using ingest = await SentryIngest.start();
    ingest.answer = status;
    const sentry = await sentryTo(ingest.dsn, {}, logger);
    for (let n = 0; n < 20; n++) {
      sentry.monitor.capture(new InternalServerErrorException(), aContext({ requestId: `request-${n}` }));
    }
    expect(await sentry.close(2_000)).toBe(true);
    expect(lines).toMatchObject([{ level: 'warn', status, msg: expect.stringContaining('Sentry delivery failing') }]);
  });

  it('that is not there costs the events and one line', async () => {
    const { logger, lines } = memoryLog('info');
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as { port: number };
    gone.close();
    const sentry = await sentryTo(`http://public@127.0.0.1:${port}/1`, {}, logger);
    sentry.monitor.capture(new InternalServerErrorException(), aContext());
    sentry.monitor.capture(new InternalServerErrorException(), aContext());
    expect(await sentry.close(2_000)).toBe(true);
    expect(lines).toMatchObject([{ level: 'warn', status: 'no answer' }]);
  });

  it('is told of again once it answers', async () => {
    const { logger, lines } = memoryLog('info');
    await using ingest = await SentryIngest.start();
    ingest.answer = 500;
    const sentry = await sentryTo(ingest.dsn, {}, logger);
    sentry.monitor.capture(new InternalServerErrorException(), aContext());
    await sentry.flush(2_000);
    ingest.answer = 200;
    sentry.monitor.capture(new InternalServerErrorException(), aContext());
    await sentry.flush(2_000);
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  it('that never answers frees the buffer after the time-out', async () => {
    await using ingest = await SentryIngest.start();
    ingest.answer = 'never';
    const url = `${ingest.dsn.replace('public@', '').replace(/1$/, '')}api/1/envelope/`;
    const transport = boundedTransport({ url, recordDroppedEvent: () => undefined }, 50);
    await expect(
      transport.send([{}, [[{ type: 'client_report' }, { discarded_events: [] }]]] as never),
    ).rejects.toThrow(/aborted/);
    expect(await transport.flush(0)).toBe(true);
  });
});
