import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Drain, OpenSet } from '../../../src/chassis/lifecycle/drain.ts';
import { listening } from '../http/listening.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('holds no request that was answered before its body came, once its connection has closed', async () => {
  const seen: WeakRef<IncomingMessage>[] = [];
  const server = createServer((req, res) => {
    seen.push(new WeakRef(req));
    res.writeHead(413, { connection: 'close' }).end();
  });
  const drain = new Drain(server);
  await using open = await listening(server);
  for (let index = 0; index < 20; index += 1) {
    const socket = connect(open.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx');
    await once(socket.resume(), 'close');
  }
  await expect
    .poll(() => {
      collectGarbage();
      return seen.filter((request) => request.deref() !== undefined).length;
    })
    .toBeLessThan(5);
  expect(drain.report()).toEqual({ finished: 0, cut: 0 });
});

it('answers a request that had come before it closes idle connections, and was not read yet', async () => {
  const server = createServer((_req, res) => res.end('fine'));
  const drain = new Drain(server);
  const { port } = await listening(server);
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  socket.write(request);
  await once(socket, 'data');
  socket.write(request);
  const ended = drain.run({ SHUTDOWN_ACCEPT_MS: 0, SHUTDOWN_DEADLINE_MS: 5000 });
  const [answer] = await once(socket, 'data');
  expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\nConnection: close/);
  await ended;
  expect(drain.report()).toEqual({ finished: 1, cut: 0 });
});

const responses = Array.from({ length: 4 }, () => new ServerResponse(new IncomingMessage(new Socket())));

describe('OpenSet', () => {
  it.each([
    ['first to last', [0, 1, 2, 3]],
    ['last to first', [3, 2, 1, 0]],
    ['anyhow', [1, 3, 0, 2]],
  ])('holds what was added and not removed (%s)', (_name, order) => {
    const inFlight = new OpenSet<ServerResponse>();
    for (const response of responses) inFlight.add(response);
    const left = new Set(responses);
    for (const index of order) {
      inFlight.remove(responses[index] as ServerResponse);
      left.delete(responses[index] as ServerResponse);
      expect(new Set(inFlight)).toEqual(left);
    }
  });

  it('holds what is in another set too', () => {
    const [one, other] = [new OpenSet<ServerResponse>(), new OpenSet<ServerResponse>()];
    for (const response of responses) one.add(response);
    for (const response of [...responses].reverse()) other.add(response);
    for (const response of responses) one.remove(response);
    expect([one.size, new Set(other)]).toEqual([0, new Set(responses)]);
  });

  it('takes one again that was removed', () => {
    const inFlight = new OpenSet<ServerResponse>();
    const [one, other] = responses as [ServerResponse, ServerResponse];
    inFlight.add(one);
    inFlight.add(other);
    inFlight.remove(one);
    inFlight.add(one);
    inFlight.remove(other);
    expect([...inFlight]).toEqual([one]);
  });
});
