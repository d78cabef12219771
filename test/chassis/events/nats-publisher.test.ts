import { type AddressInfo, createServer } from 'node:net';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runWithRequestContext } from '../../../src/chassis/context/request-context.ts';
import { unitOfWorkOn } from '../../../src/chassis/database/work/unit-of-work.ts';
import type { CloudEvent } from '../../../src/chassis/events/cloud-event.ts';
import { NatsPublisher } from '../../../src/chassis/events/nats-publisher.ts';
import { databaseProviders } from '../../support/empty-database.ts';
import { recordingLogger } from '../../support/log-lines.ts';
import { TestNats, withoutNats } from '../../support/nats.ts';
import { freshDatabase, startWork } from '../../support/start-work.ts';

const stream = 'WORK';
const quick = { EVENTS_NATS_SUBJECT: 'shop.events', EVENTS_NATS_STREAM: stream, OTEL_SERVICE_NAME: 'shop' };

async function prepareNats(): Promise<TestNats> {
  const nats = await TestNats.prepare();
  onTestFinished(() => nats.remove());
  return nats;
}

/** The events that the stream holds, the first `count` of them in its order, and the subject and headers of each. */
async function stored(nats: TestNats, count: number) {
  const connection = await connect({ servers: `127.0.0.1:${nats.port}`, user: 'service', pass: 'secret' });
  try {
    await vi.waitUntil(() => hasStream(connection), { timeout: 15_000 });
    const consumer = await jetstream(connection).consumers.get(stream);
    const found = [];
    const messages = await consumer.consume();
    for await (const message of messages) {
      const event = message.json<CloudEvent>();
      found.push({ event, subject: message.subject, id: message.headers?.get('Nats-Msg-Id') });
      if (found.length === count) break;
    }
    const { state } = await (await jetstreamManager(connection)).streams.info(stream);
    return { found, total: state.messages };
  } finally {
    await connection.close();
  }
}

/** The service makes it with its first event. */
async function hasStream(connection: NatsConnection): Promise<boolean> {
  const { streams } = await jetstreamManager(connection);
  for await (const name of streams.names()) if (name === stream) return true;
  return false;
}

describe.skipIf(withoutNats)(`events in NATS JetStream${withoutNats}`, () => {
  it.each(databaseProviders)('come as CloudEvents 1.0, in the order of each key, on %s', async (provider) => {
    const nats = await prepareNats();
    await nats.start();
    const { events } = await startWork(await freshDatabase(provider), { EVENTS_NATS_URL: nats.url, ...quick });
    const sender = { requestId: 'r-1', method: 'POST', url: '/', startTime: new Date() };
    const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
    await runWithRequestContext({ ...sender, ...trace }, async () => {
      for (const number of [1, 2, 3, 4]) {
        for (const text of ['left', 'right']) await events.emit('work.done', { text, number });
      }
    });
    const { found, total } = await stored(nats, 8);
    expect(total).toBe(8);
    const first = found[0]?.event;
    expect(first).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      source: '/shop',
      type: 'work.done',
      subject: expect.stringMatching(/^(left|right)$/),
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      datacontenttype: 'application/json',
      data: { text: first?.subject, number: 1 },
      traceparent: `00-${trace.traceId}-${trace.spanId}-01`,
    });
    for (const { event, id, subject } of found) expect([id, subject]).toEqual([event.id, 'shop.events.work.done']);
    for (const key of ['left', 'right']) {
      const own = found.filter(({ event }) => event.subject === key);
      expect(own.map(({ event }) => (event.data as { number: number }).number)).toEqual([1, 2, 3, 4]);
    }
  });

  it('of a unit of work that is undone are not there, and those of an outage come when the server is back', async () => {
    const nats = await prepareNats();
    const [provider = 'sqlite'] = databaseProviders;
    const { events, service, line } = await startWork(await freshDatabase(provider), {
      EVENTS_NATS_URL: nats.url,
      ...quick,
    });
    const undone = service.run(() =>
      unitOfWorkOn(service.database.client, async () => {
        await events.emit('work.done', { text: 'undone', number: 1 });
        throw new Error('changed my mind');
      }),
    );
    await expect(undone).rejects.toThrow('changed my mind');
    await events.emit('work.unheard', { text: 'first' });
    await line('job failed');
    await nats.start();
    const { found, total } = await stored(nats, 1);
    expect(found.map(({ event }) => event.data)).toEqual([{ text: 'first' }]);
    expect(total).toBe(1);
    // The server ends in the middle, and the client finds it again.
    await nats.stop();
    await events.emit('work.unheard', { text: 'second' });
    await nats.start();
    expect((await stored(nats, 2)).found.map(({ event }) => event.data)).toEqual([
      { text: 'first' },
      { text: 'second' },
    ]);
  });

  it('are there once when they are published twice', async () => {
    const nats = await prepareNats();
    await nats.start();
    const { logger } = recordingLogger();
    const publisher = new NatsPublisher({ url: nats.url, prefix: 'shop', stream, name: 'shop', logger });
    onTestFinished(() => publisher.close());
    const common = { specversion: '1.0', source: '/shop', time: 'now', datacontenttype: 'application/json' } as const;
    const event = { ...common, id: 'same', type: 'work.done', data: {} };
    await publisher.publish(event);
    await publisher.publish(event);
    await publisher.publish({ ...event, id: 'other' });
    expect((await stored(nats, 2)).total).toBe(2);
  });
});

describe('the publisher of events', () => {
  it('sends no password in plain text to a server of tls://, wherever that stands in the list', async () => {
    let sent = '';
    const server = createServer((socket) => {
      socket.on('data', (data) => {
        sent += data;
      });
      socket.on('error', () => undefined);
      socket.write('INFO {"server_id":"x","version":"2.15.2","proto":1,"headers":true,"max_payload":1000}\r\n');
    });
    await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const url = `nats://service:secret@127.0.0.1:1,tls://127.0.0.1:${port}`;
    const { logger } = recordingLogger();
    const publisher = new NatsPublisher({ url, prefix: 'events', stream: undefined, name: 'shop', logger });
    onTestFinished(() => publisher.close());
    const event = { type: 'work.done', id: '1' } as CloudEvent;
    await expect(publisher.publish(event)).rejects.toThrow();
    expect(sent).toBe('');
  });
});
