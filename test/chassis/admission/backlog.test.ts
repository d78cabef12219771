import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Backlog } from '../../../src/chassis/admission/backlog.ts';
import { runWithRequestContext } from '../../../src/chassis/context/request-context.ts';
import { RequestQueue } from '../../../src/chassis/database/client/request-queue.ts';
import { BodyBudget } from '../../../src/chassis/http/bodies/body-budget.ts';
import { requestContextOf } from '../../../src/chassis/http/pipeline/request-context-of.ts';
import { listening } from '../http/listening.ts';

const refuse = () => undefined;

function fakeResponse(fields: object = {}, req: object = { headers: {}, method: 'GET', url: '/', socket: {} }) {
  const res = fields instanceof EventEmitter ? fields : Object.assign(new EventEmitter(), fields);
  return Object.assign(res, { req }) as never;
}

/** Has a request come, as the gate does that has let it in. */
const arrive = (backlog: Backlog, arrival: Parameters<Backlog['add']>[0], at = performance.now()) =>
  backlog.delays(arrival.client, arrival.res) ? backlog.add(arrival, at) : arrival.begin(0);

/** A database with ten places, and a backlog before it; where its queue is long, with a request of a, b and c each. */
function filledDatabase(ordinaryQueries: number, bodies = new BodyBudget(1_000_000)) {
  const database = { places: 10, ordinaryQueries, ordinaryHeldBackQueries: 0 };
  const backlog = new Backlog(database, { msFor: (requests) => requests * 2 }, bodies);
  const begun: string[] = [];
  const waits: number[] = [];
  const add = (name: string, res: object = { destroyed: false }, at = performance.now()) => {
    const request = { headers: {}, method: 'GET', url: '/', socket: {} };
    const begin = (waitedMs: number) => {
      begun.push(name);
      waits.push(waitedMs);
    };
    arrive(backlog, { client: name.slice(0, 1), res: fakeResponse(res, request), begin, refuse }, at);
    return request;
  };
  if (ordinaryQueries > 256) for (const name of ['a0', 'b0', 'c0']) add(name);
  for (const list of [begun, waits]) list.length = 0;
  return { database, backlog, begun, waits, add };
}

describe('Backlog', () => {
  it('has requests begin at once behind a queue that a busy database has', () => {
    const { begun, waits, add } = filledDatabase(200);
    for (const name of ['a1', 'a2', 'b1']) add(name);
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    expect(waits).toEqual([0, 0, 0]);
  });

  it('has them wait behind a long one until it is short, and what comes later behind them, by turns of the clients', async () => {
    const { database, begun, waits, add } = filledDatabase(300);
    for (const name of ['a1', 'a2', 'a3']) add(name);
    database.ordinaryQueries = 200;
    for (const name of ['b1', 'c1', 'b2']) add(name);
    await delay(20);
    expect(begun).toEqual([]);
    database.ordinaryQueries = 16;
    await expect.poll(() => begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(15);
    add('a4');
    expect(begun.at(-1)).toBe('a4');
  });

  it('has one request of a client begin at once while the queue empties, and sixteen of all', async () => {
    const { database, begun, add } = filledDatabase(300);
    add('a1');
    const first = Object.assign(new EventEmitter(), { destroyed: false });
    const other = Object.assign(new EventEmitter(), { destroyed: false });
    add('d1', first);
    add('e1', other);
    expect(begun).toEqual(['d1', 'e1']);
    first.destroyed = true;
    for (const name of ['d2', 'd3', 'e2', 'a2']) add(name);
    expect(begun).toEqual(['d1', 'e1', 'd2']);
    for (const client of 'fghijklmnopqr') add(`${client}1`);
    expect(begun.join(' ')).toBe('d1 e1 d2 f1 g1 h1 i1 j1 k1 l1 m1 n1 o1 p1');
    other.destroyed = true;
    add('s1');
    expect(begun.at(-1)).toBe('s1');
    database.ordinaryQueries = 16;
    await expect.poll(() => begun.slice(15).join(' ')).toBe('a1 d3 e2 q1 r1 a2');
    database.ordinaryQueries = 300;
    add('a3');
    expect(begun.at(-1)).toBe('a3');
  });

  it('begins one that waits for each that does not wait, so that none waits for as long as others overtake', () => {
    const { backlog, begun, add } = filledDatabase(300);
    add('a1', { destroyed: true });
    for (const name of ['a2', 'a3', 'b1']) add(name);
    const overtake = () => backlog.overtake(() => begun.push('long'));
    overtake();
    expect(begun).toEqual(['long', 'b1']);
    // The queue still empties, so a client with nothing here begins at once.
    add('d1');
    for (let index = 0; index < 3; index += 1) overtake();
    expect(begun.slice(2)).toEqual(['d1', 'long', 'a2', 'long', 'a3', 'long']);
  });

  it('does not wait for queries that keep nobody else waiting', () => {
    const { database, begun, add } = filledDatabase(1000);
    database.ordinaryHeldBackQueries = 990;
    add('a1');
    expect(begun).toEqual(['a1']);
  });

  it('does not wait for what always has hundreds of queries waiting, such as streams and work outside of requests', async () => {
    const queue = new RequestQueue({ places: 10, placesOfSlow: 5 });
    let goesOn = true;
    const keepAsking = async () => {
      while (goesOn) await queue.run(() => delay(1));
    };
    const stream = { requestId: 's', method: 'GET', url: '/', startTime: new Date(), isStreaming: true };
    const work = Array.from({ length: 400 }, (_, index) =>
      index < 200 ? keepAsking() : runWithRequestContext({ ...stream }, keepAsking),
    );
    await delay(50);
    const waiting = queue.waitingQueries;
    const begun: number[] = [];
    const begin = (waitedMs: number) => begun.push(waitedMs);
    const backlog = new Backlog(queue, { msFor: () => 0 }, new BodyBudget(1_000_000));
    arrive(backlog, { client: 'a', res: fakeResponse(), begin, refuse });
    goesOn = false;
    await Promise.all(work);
    expect(waiting).toBeGreaterThan(350);
    expect([begun, queue.waitingQueries]).toEqual([[0], 0]);
  });

  it('begins few in one turn of the event loop, because only then their queries are known', async () => {
    const { database, begun, add } = filledDatabase(300);
    for (let index = 0; index < 40; index += 1) add(`a${index}`);
    database.ordinaryQueries = 0;
    const counts = new Set<number>();
    await expect.poll(() => counts.add(begun.length) && begun.length, { interval: 0 }).toBe(40);
    expect([...counts].find((count) => count > 0)).toBeLessThanOrEqual(16);
  });

  it('forgets requests that were answered or whose clients have gone', async () => {
    const { database, begun, add } = filledDatabase(300);
    add('a1', { destroyed: true });
    add('a2', { headersSent: true });
    add('a3');
    database.ordinaryQueries = 0;
    await expect.poll(() => begun).toEqual(['a3']);
  });

  it('tells how long one waits that comes now, and one of a client by what it has here', async () => {
    const { database, backlog, begun, add } = filledDatabase(300);
    const came = performance.now();
    for (let index = 0; index < 400; index += 1) add(`a${index}`, {}, came);
    add('b1', {}, came);
    // None begins before the database's queue is short, however fast that is: its own rate is what is known.
    for (const now of [came, came + 100, came + 200]) expect(backlog.at(now)).toBe(802);
    expect(['c', 'b', 'a'].map((client) => backlog.ofClient(client))).toEqual([4, 8, 802]);
    database.ordinaryQueries = 0;
    await expect.poll(() => begun.length, { interval: 1 }).toBeGreaterThan(0);
    database.ordinaryQueries = 300;
    expect(backlog.at(performance.now())).toBe((401 - begun.length) * 2);
    await delay(110);
    const now = performance.now();
    // As many begin in a tenth of a second at least.
    const leastMs = (100 / begun.length) * (401 - begun.length);
    expect(backlog.at(now)).toBeGreaterThanOrEqual(leastMs);
    expect(backlog.at(now)).toBeLessThan(leastMs * 50);
    expect(backlog.ofClient('c')).toBeCloseTo(backlog.at(now) / (401 - begun.length), 5);
    database.ordinaryQueries = 0;
    await expect.poll(() => begun.length).toBe(401);
    expect(backlog.at(performance.now())).toBe(0);
  });

  it('has each begin in the context in which it came, and tell since when', async () => {
    const { database, backlog, add } = filledDatabase(300);
    const store = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const send = (client: string) => {
      const begin = () => seen.push(store.getStore());
      arrive(backlog, { client, res: fakeResponse(), begin, refuse });
    };
    store.run('first', send, 'a');
    send('b');
    const request = add('c1');
    await delay(30);
    database.ordinaryQueries = 0;
    await expect.poll(() => seen).toEqual(['first', undefined]);
    expect(requestContextOf(request as never).seconds).toBeGreaterThanOrEqual(0.025);
    expect(Date.now() - requestContextOf(request as never).startTime.getTime()).toBeGreaterThanOrEqual(25);
  });
});

/** A server whose requests wait in a backlog, and their bodies with it. */
async function fillingBacklog(limitBytes: number) {
  const bodies = new BodyBudget(limitBytes);
  const filled = filledDatabase(300, bodies);
  const { backlog } = filled;
  const server = createServer((req, res) => {
    const answer = (status: number) => void res.writeHead(status).end();
    const client = String(req.headers['x-client']);
    arrive(backlog, { client, res, begin: () => answer(200), refuse: () => answer(503) });
  });
  const listens = await listening(server);
  onTestFinished(() => listens[Symbol.asyncDispose]());
  /** Sends so many bytes of a body, all of it or not. */
  async function send(client: string, bytes: number, length = bytes) {
    const socket = connect(listens.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    const lines = [
      'POST / HTTP/1.1',
      'Host: a',
      `X-Client: ${client}`,
      'Connection: close',
      `Content-Length: ${length}`,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n${'x'.repeat(bytes)}`);
    return {
      socket,
      status: text(socket).then(
        (answer) => answer.slice(9, 12),
        () => 'cut off',
      ),
    };
  }
  return { ...filled, bodies, send };
}

describe('bodies of requests that wait before they begin', () => {
  it('count with those that come in, whole or not, and give way where their client holds the most', async () => {
    const { database, bodies, send } = await fillingBacklog(100_000);
    const refused: string[] = [];
    const other = { client: 'c', bytes: 0, refuse: () => refused.push('c') };
    bodies.hold(other, 30_000);
    const whole = await send('a', 40_000);
    await delay(50);
    const small = await send('b', 1_000, 2_000);
    await delay(50);
    const later = await send('a', 35_000, 90_000);
    expect(await whole.status).toBe('503');
    database.ordinaryQueries = 0;
    expect(await Promise.all([small.status, later.status])).toEqual(['200', '200']);
    // Nothing counts any more once they have begun.
    bodies.hold(other, 70_000);
    expect(refused).toEqual([]);
  });

  it('are forgotten with their requests as soon as their clients have gone', async () => {
    const { backlog, begun, bodies, database, send } = await fillingBacklog(100_000);
    const came = await Promise.all([send('a', 30_000), send('a', 30_000, 60_000), send('b', 20_000)]);
    await expect.poll(() => backlog.at(performance.now())).toBe(6);
    for (const { socket } of came) socket.destroy();
    await expect.poll(() => backlog.at(performance.now())).toBe(0);
    expect(backlog.ofClient('b')).toBe(0);
    const refused: string[] = [];
    bodies.hold({ client: 'c', bytes: 0, refuse: () => refused.push('c') }, 100_000);
    expect([refused, begun, database.ordinaryQueries]).toEqual([[], [], 300]);
  });
});
