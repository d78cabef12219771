import { describe, expect, it, onTestFinished } from 'vitest';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { InternalServerErrorException } from '../../../../src/chassis/errors/exceptions.ts';
import { startSentry } from '../../../../src/chassis/telemetry/sentry/start-sentry.ts';
import { SentryIngest } from '../../../../src/chassis/testing/sentry-ingest.ts';
import { memoryLog } from '../../http/bare-app.ts';
import { sentrySettings } from './sentry-settings.ts';
import { aContext, sentryTo } from './sentry-to.ts';

describe('an exception', () => {
  it('takes the trace and span of its request where no span is active', async () => {
    await using ingest = await SentryIngest.start();
    const sentry = await sentryTo(ingest.dsn);
    const [traceId, spanId] = ['0123456789abcdef'.repeat(2), 'fedcba9876543210'];
    sentry.monitor.capture(new InternalServerErrorException(), aContext({ traceId, spanId }));
    const [event] = await ingest.received(1);
    expect(event?.contexts.trace).toEqual({ trace_id: traceId, span_id: spanId });
    expect(ingest.envelopes[0]).not.toMatch(/"trace_id":"(?!0123456789abcdef)/);
  });

  it('is sent once, also as the cause of another and as the crash that it becomes', async () => {
    await using ingest = await SentryIngest.start();
    const sentry = await sentryTo(ingest.dsn);
    const fault = new InternalServerErrorException('once', undefined, { cause: new Error('why') });
    sentry.monitor.capture(fault, aContext());
    sentry.monitor.capture(fault, aContext());
    sentry.monitor.capture(new InternalServerErrorException('around it', undefined, { cause: fault }), aContext());
    sentry.captureCrash(new Error('after it', { cause: fault.cause }));
    expect(await sentry.flush(2_000)).toBe(true);
    expect(ingest.events.map(({ exception }) => exception.values.at(-1)?.value)).toEqual(['once']);
  });

  it('that is frozen, has no stack or causes itself is sent', async () => {
    await using ingest = await SentryIngest.start();
    const sentry = await sentryTo(ingest.dsn);
    const loop = new Error('loop');
    loop.cause = loop;
    sentry.captureCrash(Object.freeze(new Error('frozen')));
    sentry.captureCrash(Object.assign(new Error('bare'), { stack: undefined }));
    sentry.captureCrash(loop);
    sentry.captureCrash(new DOMException('too late', 'TimeoutError'));
    const events = await ingest.received(4);
    expect(events.map(({ exception }) => exception.values.at(-1)?.value).toSorted()).toEqual([
      'bare',
      'frozen',
      'loop',
      'too late',
    ]);
  });

  it('carries the address of the client only where that is switched on', async () => {
    await using ingest = await SentryIngest.start();
    const off = await sentryTo(ingest.dsn);
    off.monitor.capture(new InternalServerErrorException(), aContext());
    await off.close(2_000);
    const on = await sentryTo(ingest.dsn, { SENTRY_SEND_CLIENT_ADDRESS: true });
    on.monitor.capture(new InternalServerErrorException(), aContext());
    await ingest.received(2);
    expect(ingest.envelopes[0]).not.toContain('203.0.113.9');
    expect(ingest.events[1]?.user).toEqual({ ip_address: '203.0.113.9' });
  });

  it('is dropped by the sample rate', async () => {
    await using ingest = await SentryIngest.start();
    const sentry = await sentryTo(ingest.dsn, { SENTRY_SAMPLE_RATE: 0 });
    sentry.monitor.capture(new InternalServerErrorException(), aContext());
    await sentry.flush(2_000);
    expect(ingest.events).toEqual([]);
  });
});

describe('a crash', () => {
  it('is fatal, not handled, and names the request that it came from', async () => {
    await using ingest = await SentryIngest.start();
    const sentry = await sentryTo(ingest.dsn);
    runWithRequestContext(aContext({ userId: 'user-1' }), () => sentry.captureCrash(new TypeError('in a timer')));
    expect(await sentry.close(2_000)).toBe(true);
    expect(ingest.events).toMatchObject([
      { level: 'fatal', user: { id: 'user-1' }, tags: { request_id: 'request-1' }, transaction: 'GET /things/:id' },
    ]);
    expect(ingest.events[0]?.exception.values[0]?.mechanism).toMatchObject({ handled: false });
  });

  it('of any thrown value is sent', async () => {
    await using ingest = await SentryIngest.start();
    const sentry = await sentryTo(ingest.dsn);
    for (const thrown of ['a text', null, undefined, { password: 'in an object' }]) sentry.captureCrash(thrown);
    await ingest.received(4);
    expect(ingest.events.map(({ contexts }) => contexts['thrown']?.['value'])).toEqual(
      expect.arrayContaining(['a text', 'null', 'undefined', '[object Object]']),
    );
    expect(ingest.envelopes.join()).not.toContain('in an object');
  });
});

it('has one owner in a process: a second start is told so, until the first is closed', async () => {
  const { logger, lines } = memoryLog();
  const settings = sentrySettings('http://public@127.0.0.1/1');
  const first = await startSentry(settings, logger);
  expect(await startSentry(settings, logger)).toBeUndefined();
  expect(lines).toMatchObject([{ level: 'warn', msg: expect.stringContaining('another service of this process') }]);
  await first?.close(100);
  const third = await startSentry(settings, logger);
  expect(third).toBeDefined();
  await third?.close(100);
});

it('describe tells where events go without the key', async () => {
  const sentry = await sentryTo('https://public:secret@sentry.example/sub/42');
  expect(sentry.describe()).toEqual({
    destination: 'https://sentry.example/sub/42',
    environment: 'test',
    release: 'slipway@tests',
    sampleRate: 1,
    sendsClientAddress: false,
  });
});

it('the release is that of the package where none is set', async () => {
  const { SENTRY_RELEASE: _, ...settings } = sentrySettings('http://public@127.0.0.1/1');
  const sentry = await startSentry(settings, memoryLog().logger);
  onTestFinished(async () => void (await sentry?.close(100)));
  expect(sentry?.describe().release).toMatch(/^slipway@\d+\.\d+\.\d+$/);
});
