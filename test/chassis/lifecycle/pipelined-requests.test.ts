import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ReadyRefusal } from '../../../src/chassis/admission/ready-refusal.ts';
import { tryAgain } from '../../../src/chassis/errors/try-again.ts';
import { noAnswerHeaders } from '../../../src/chassis/http/answers/answer-headers.ts';
import { requestListener } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { connectionCutter } from '../../../src/chassis/lifecycle/cut-connections.ts';
import { createHttpServer } from '../../../src/chassis/lifecycle/listen.ts';
import { PipelinedRequests } from '../../../src/chassis/lifecycle/pipelined-requests.ts';
import { ConnectionMetrics } from '../../../src/chassis/telemetry/metrics/connection-metrics.ts';
import { memoryLog } from '../http/bare-app.ts';
import { listening } from '../http/listening.ts';

const times = { HTTP_HEADERS_TIMEOUT_MS: 10_000, HTTP_RECEIVE_TIMEOUT_MS: 60_000, HTTP_KEEP_ALIVE_TIMEOUT_MS: 65_000 };
async function serve(listener: RequestListener, total = 1000) {
  const { logger, lines } = memoryLog();
  const cut = connectionCutter({ logger, metrics: new ConnectionMetrics() });
  const turns = new PipelinedRequests({ HTTP_MAX_CONNECTIONS: total }, cut);
  const app = express().use((req, res) => void listener(req, res));
  const server = createHttpServer(
    requestListener(app, { logger, turns }),
    times,
    { headers: noAnswerHeaders, logger },
    { turns },
  );
  const address = await listening(server);
  onTestFinished(() => address[Symbol.asyncDispose]());
  return { port: address.port, lines, turns };
}

/** A connection that has sent these requests. */
function send(port: number, requests: string, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(requests);
  return socket;
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
const last = 'Connection: close\r\n';

/** A connection that is cut while it sends may end with an error. */
const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

/** A listener that answers when it is told, and the requests that it has begun. */
function heldAnswers() {
  const begun: { url: string; end: () => void }[] = [];
  const listener = ({ url = '' }: IncomingMessage, res: ServerResponse) =>
    void begun.push({ url, end: () => res.end(`answer to ${url};`) });
  const urls = () => begun.map(({ url }) => url);
  return { begun, urls, listener };
}

describe('requests sent ahead on one connection', () => {
  it('begin one after the other, and are all answered in their order', async () => {
    const { begun, urls, listener } = heldAnswers();
    const { port } = await serve(listener);
    const answers = text(send(port, get('/1') + get('/2') + get('/3', last)));
    for (const url of ['/1', '/2', '/3']) {
      await expect.poll(() => urls().at(-1)).toBe(url);
      // Others get their turn, and no request of this connection does.
      expect(await text(send(port, 'GET'.repeat(2)).end())).toContain('400');
      expect(urls().at(-1)).toBe(url);
      begun.at(-1)?.end();
    }
    expect((await answers).match(/answer to \/\d/g)).toEqual(['answer to /1', 'answer to /2', 'answer to /3']);
  });

  it('make room where a tunnel that is refused follows them, whose refusal nobody takes for their answer', async () => {
    const { begun, urls, listener } = heldAnswers();
    const { port } = await serve(listener, 2);
    for (const url of ['/1', '/2']) {
      const tunnel = send(port, `${get(url)}${get('/never')}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
      expect(await text(tunnel).catch(() => '')).toBe('');
    }
    const answers = text(send(port, get('/3') + get('/4') + get('/5', last)));
    for (const url of ['/3', '/4', '/5']) {
      await expect.poll(() => urls().at(-1)).toBe(url);
      begun.at(-1)?.end();
    }
    expect((await answers).match(/answer to \/\d/g)).toHaveLength(3);
    expect(urls()).not.toContain('/never');
  });

  it('with bodies and with Expect are answered too', async () => {
    const { port } = await serve(async (req, res) => {
      res.end(`${req.url} ${req.method === 'POST' ? await text(req) : ''};`);
    });
    const post = (path: string, headers = '') =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n${headers}\r\n`;
    const socket = send(port, `${post('/1')}body${post('/2')}body${post('/3', 'Expect: 100-continue\r\n')}`);
    let answers = '';
    for await (const piece of socket.setEncoding('utf8')) {
      answers += piece;
      if (piece.includes('100 Continue')) socket.write(`body${get('/4', last)}`);
    }
    expect(answers.match(/\/\d \w*;/g)).toEqual(['/1 body;', '/2 body;', '/3 body;', '/4 ;']);
  });

  it('are refused in their turn where they expect what is not met', async () => {
    const { urls, listener } = heldAnswers();
    const { port, lines } = await serve(listener);
    await once(send(port, get('/') + get('/', 'Expect: a cake\r\n').repeat(100)), 'close');
    expect([urls(), lines.map(({ reason }) => reason)]).toEqual([['/'], ['pipelined']]);
  });

  it('run in no context of the request before them', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const { port } = await serve((req, res) => {
      seen.push(context.getStore());
      context.run(req.url ?? '', () => setImmediate(() => res.end()));
    });
    await text(send(port, get('/1') + get('/2') + get('/3', last)));
    expect(seen).toEqual([undefined, undefined, undefined]);
  });

  it('do not begin once their connection has closed', async () => {
    const { begun, urls, listener } = heldAnswers();
    const { port } = await serve(listener);
    const socket = send(port, get('/1') + get('/2'));
    await expect.poll(urls).toEqual(['/1']);
    socket.destroy();
    begun[0]?.end();
    const others = send(port, get('/other'));
    await expect.poll(urls).toEqual(['/1', '/other']);
    others.destroy();
  });

  it('are cut beyond 32, and what else came with them is not even parsed', async () => {
    const { urls, listener } = heldAnswers();
    const { port, lines } = await serve(listener);
    let parsed = 0;
    const count = () => {
      parsed += 1;
    };
    subscribe('http.server.request.start', count);
    onTestFinished(() => void unsubscribe('http.server.request.start', count));
    const kept = send(port, get('/first').repeat(33));
    await expect.poll(() => parsed).toBe(33);
    await once(send(port, get('/second').repeat(1000)), 'close');
    expect([parsed, urls()]).toEqual([33 + 34, ['/first', '/second']]);
    expect(kept.destroyed).toBe(false);
    expect(lines).toMatchObject([{ reason: 'pipelined', msg: 'connections cut: too many pipelined requests' }]);
  });

  it('are cut too where each of them is refused at once, and answered where they are few', async () => {
    const refusal = new ReadyRefusal(tryAgain(), { production: true, keepAliveMs: 65_000 });
    let begun = 0;
    const { port, lines } = await serve((_req, res) => {
      begun += 1;
      refusal.send(res);
    });
    const answers = await text(send(port, get('/').repeat(32) + get('/', last)));
    expect([begun, answers.match(/HTTP\/1\.1 503 /g)?.length, lines]).toEqual([33, 33, []]);
    await closed(send(port, get('/').repeat(1000)).resume());
    expect(begun).toBeLessThan(40);
    expect(lines).toMatchObject([{ reason: 'pipelined' }]);
  });

  it('are cut beyond as many as connections may be open, and make room when theirs closes', async () => {
    const { port } = await serve(() => undefined, 10);
    const [first, second] = [send(port, get('/').repeat(7)), send(port, get('/').repeat(4))];
    await once(send(port, get('/').repeat(3)), 'close');
    first.destroy();
    await expect
      .poll(() =>
        once(send(port, get('/').repeat(3)), 'close', { signal: AbortSignal.timeout(100) }).then(
          () => 'cut',
          () => 'kept',
        ),
      )
      .toBe('kept');
    expect(second.destroyed).toBe(false);
  });

  it('give way on the longest connection of the address with the most, where another address sends some', async () => {
    const { port } = await serve(() => undefined, 10);
    const most = [send(port, get('/').repeat(4)), send(port, get('/').repeat(7))] as const;
    const cut = closed(most[1]);
    const few = send(port, get('/').repeat(4), '127.0.0.2');
    await cut;
    const others = send(port, get('/').repeat(4), '127.0.0.3');
    await expect(once(others, 'close', { signal: AbortSignal.timeout(100) })).rejects.toThrow();
    expect([most[0].destroyed, few.destroyed]).toEqual([false, false]);
  });

  it('bar an address that gives up more than a thousand of them, cut or not, and no other', async () => {
    const { urls, listener } = heldAnswers();
    const { port, turns } = await serve(listener);
    const cut = Array.from({ length: 15 }, () => closed(send(port, get('/').repeat(34))));
    await Promise.all(cut);
    expect(turns.isBarred('127.0.0.1')).toBe(false);
    const left = Array.from({ length: 17 }, () => send(port, get('/').repeat(33)));
    await expect.poll(urls).toHaveLength(cut.length + left.length);
    for (const socket of left) socket.destroy();
    await expect.poll(() => turns.isBarred('127.0.0.1')).toBe(true);
    expect(turns.isBarred('127.0.0.2')).toBe(false);
  });

  it('bar nobody whose requests had their turn', async () => {
    const { port, turns } = await serve((_req, res) => void res.end());
    for (let round = 0; round < 40; round += 1) await text(send(port, get('/').repeat(31) + get('/', last)));
    expect(turns.isBarred('127.0.0.1')).toBe(false);
  });

  const post = (body: string) => `POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const chunks = (count: number) =>
    `POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${`40\r\n${'x'.repeat(64)}\r\n`.repeat(count)}0\r\n\r\n`;
  const fields = Array.from({ length: 90 }, (_, index) => `${index}:\r\n`).join('');

  it.each([
    ['bodies', post('x'.repeat(20_000)), 7],
    ['bodies in chunks', chunks(100), 5],
    ['header fields', get('/h', fields), 10],
  ])('are cut where their %s hold more than 128 KB until their turn', async (_what, request, enough) => {
    const { urls, listener } = heldAnswers();
    const { port, lines } = await serve(listener);
    const kept = send(port, get('/first') + request.repeat(enough - 1));
    await closed(send(port, get('/second') + request.repeat(enough)));
    expect(urls().toSorted()).toEqual(['/first', '/second']);
    expect(kept.destroyed).toBe(false);
    expect(lines).toMatchObject([{ reason: 'pipelined' }]);
  });

  it('are cut of the address that holds the most, where another address brings what is too much for all', async () => {
    const { urls, listener } = heldAnswers();
    const { port } = await serve(listener, 10);
    const cut = closed(send(port, get('/1') + post('x'.repeat(50_000))));
    await expect.poll(urls).toEqual(['/1']);
    const less = send(port, get('/2') + post('x'.repeat(40_000)), '127.0.0.2');
    await cut;
    await expect(once(less, 'close', { signal: AbortSignal.timeout(100) })).rejects.toThrow();
  });

  it('are cut where those of all connections hold too much, and make room when it is their turn', async () => {
    const { begun, urls, listener } = heldAnswers();
    const { port } = await serve(listener, 10);
    const large = post('x'.repeat(50_000));
    send(port, get('/1') + large);
    await expect.poll(urls).toEqual(['/1']);
    await closed(send(port, get('/2') + large));
    begun[0]?.end();
    await expect.poll(urls).toEqual(['/1', '/2', '/b']);
    send(port, get('/3') + large);
    await expect.poll(urls).toEqual(['/1', '/2', '/b', '/3']);
    begun.at(-1)?.end();
    await expect.poll(urls).toEqual(['/1', '/2', '/b', '/3', '/b']);
  });
});
