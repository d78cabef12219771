import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import process from 'node:process';
import { setImmediate as turnOver } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeTogether } from '../../../../src/chassis/http/answers/responses.ts';

const requests = new AsyncLocalStorage<number>();

/** A server whose answers are given by the test, all in one turn, and the responses to `count` requests. */
async function openRequests(
  count: number,
  longestWaitMs = Number.POSITIVE_INFINITY,
): Promise<{ server: Server; responses: ServerResponse[]; clients: Socket[] }> {
  const responses: ServerResponse[] = [];
  const { promise: allCame, resolve } = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    responses.push(response);
    if (responses.length === count) resolve();
  });
  writeTogether(server, longestWaitMs);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  onTestFinished(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  for (const client of clients) client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await allCame;
  return { server, responses, clients };
}

/** Bytes that the operating system has of all answers on their connections. */
const taken = (responses: readonly ServerResponse[]): number[] =>
  responses.map(({ req }) => (req.socket as unknown as { _handle: { bytesWritten: number } })._handle.bytesWritten);

describe('answers of one turn of the event loop', () => {
  it('are written at its end, one after the other', async () => {
    const { responses, clients } = await openRequests(3);
    const answers = clients.map(async (client) => String(((await once(client, 'data')) as [Buffer])[0]));
    for (const [index, response] of responses.entries()) response.end(`answer ${index}`);
    expect(taken(responses)).toEqual([0, 0, 0]);
    await turnOver();
    for (const bytes of taken(responses)) expect(bytes).toBeGreaterThan(0);
    const bodies = (await Promise.all(answers)).map((text) => text.split('\r\n\r\n')[1]);
    expect(bodies.toSorted()).toEqual(['answer 0', 'answer 1', 'answer 2']);
  });

  it.for([
    [31, 0],
    [32, 32],
  ] as const)('wait for 31 others at most: of %i, %i are written before it', async ([count, written]) => {
    const { responses } = await openRequests(count);
    for (const response of responses) response.end('x');
    await new Promise(process.nextTick);
    expect(taken(responses).filter((bytes) => bytes > 0)).toHaveLength(written);
  });

  it('wait no longer for the work of others than they may', async () => {
    const { responses } = await openRequests(3, 2);
    responses[0]?.end('x');
    const began = performance.now();
    while (performance.now() - began <= 2);
    for (const response of responses.slice(1)) response.end('x');
    await new Promise(process.nextTick);
    expect(taken(responses).filter((bytes) => bytes > 0)).toHaveLength(3);
  });

  it('wait with the first of their pieces alone', async () => {
    const { responses } = await openRequests(1);
    const [response] = responses as [ServerResponse];
    response.setHeader('content-length', 3);
    await new Promise((done) => response.write('1', done));
    const [before = 0] = taken(responses);
    response.write('2');
    await new Promise(process.nextTick);
    expect(taken(responses)).toEqual([before + 1]);
    response.end('3');
  });

  it('end in the asynchronous context of their own request', async () => {
    const { responses } = await openRequests(3);
    const seen: (number | undefined)[] = [];
    const ended = responses.map((response, index) => {
      response.on('finish', () => {
        seen[index] = requests.getStore();
      });
      return once(response, 'close');
    });
    for (const [index, response] of responses.entries()) requests.run(index, () => response.end('x'));
    await Promise.all(ended);
    expect(seen).toEqual([0, 1, 2]);
  });

  it('do not wait if they are long', async () => {
    const { responses } = await openRequests(1);
    for (const response of responses) response.end('x'.repeat(100_000));
    expect(taken(responses)[0]).toBeGreaterThan(0);
  });

  it('reach their clients where a connection between them is cut', async () => {
    const { responses, clients } = await openRequests(3);
    const [first, , last] = clients as [Socket, Socket, Socket];
    const answers = Promise.all([once(first, 'data'), once(last, 'data')]);
    for (const response of responses) response.end('x');
    responses[1]?.req.socket.destroy();
    await answers;
  });

  it('reach their clients where idle connections are closed before the end of the turn', async () => {
    const { server, responses, clients } = await openRequests(2);
    const answers = Promise.all(clients.map((client) => once(client, 'data')));
    for (const response of responses) response.end('x');
    server.closeIdleConnections();
    for (const [answer] of await answers) expect(String(answer)).toContain('\r\n\r\nx');
  });

  it('reach the client of a connection that is destroyed before the end of the turn', async () => {
    const { responses, clients } = await openRequests(1);
    const answer = once(clients[0] as Socket, 'data');
    responses[0]?.end('x');
    responses[0]?.destroy();
    expect(String((await answer)[0])).toContain('\r\n\r\nx');
  });

  it('reach their clients where a listener for the end of another throws', async () => {
    const { responses, clients } = await openRequests(3);
    const answers = Promise.all(clients.map((client) => once(client, 'data')));
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    onTestFinished(() => {
      for (const listener of others) process.on('uncaughtException', listener);
    });
    const thrown = once(process, 'uncaughtException');
    responses[0]?.on('finish', () => {
      throw new Error('a listener failed');
    });
    for (const response of responses) response.end('x');
    expect((await thrown)[0]).toMatchObject({ message: 'a listener failed' });
    expect(await answers).toHaveLength(3);
  });
});
