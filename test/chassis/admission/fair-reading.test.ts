import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mostTurnMs } from '../../../src/chassis/admission/fair-reading.ts';
import { all, answered, crowd, get, longestWait, other, serve, workMs } from './reading-server.ts';

/** All as the class has them. */
const readAtOnce = 64;
const mostIdle = 31;
const mostTurnAloneMs = 50;
const longest = (turns: readonly Record<string, number>[]) => Math.max(...turns.map((turn) => turn[crowd] ?? 0));

describe('FairReading', () => {
  it('stops to read the connections of a client with many in a turn that is long, and reads all of them in those that follow', async () => {
    const { open, reading, turns, waits } = await serve();
    await open(other, 1);
    const sockets = await open(crowd, 120);
    await all(sockets);
    // On a busy machine the first request alone may make the turn long, and has the others wait.
    for (let tries = 0; tries < 10 && turns[0]?.[crowd] === 1; tries += 1) {
      await expect.poll(() => reading.holdsBack).toBe(false);
      turns.length = 0;
      await all(sockets);
    }
    expect(turns[0]?.[crowd]).toBeGreaterThan(1);
    expect(turns[0]?.[crowd]).toBeLessThanOrEqual(mostTurnMs / workMs + 2);
    // Those whose turn has come, and what the long turn lets in beside them.
    expect(longest(turns)).toBeLessThanOrEqual(readAtOnce + mostIdle + mostTurnMs / workMs + 2);
    expect(turns.reduce((sum, turn) => sum + (turn[crowd] ?? 0), 0)).toBe(120);
    // As long as the others took before a connection was read again.
    expect(longestWait(waits, crowd)).toBeGreaterThan(workMs * readAtOnce);
    await expect.poll(() => reading.holdsBack).toBe(false);
  });

  it('reads many connections of a client at once, once those read before them brought nothing', async () => {
    const { accepted, open, reading } = await serve();
    await open(crowd, 240);
    await open(other, 1);
    await expect.poll(() => reading.holdsBack).toBe(false);
    const now = performance.now();
    reading.spare(accepted[0] as Socket, now - 2 * mostTurnMs, now);
    expect(reading.holdsBack).toBe(true);
    let turns = 0;
    for (; reading.holdsBack; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(turns).toBeLessThan(7);
  });

  it('reads who has few connections at once, while many of another wait for their turn', async () => {
    const { open, turns } = await serve();
    const [alone] = await open(other, 1);
    const sockets = await open(crowd, 240);
    const crowded = all(sockets);
    await once(sockets[0] as Socket, 'data');
    await answered(alone as Socket);
    const at = turns.findIndex((turn) => turn[other] === 1);
    expect(at).toBeGreaterThanOrEqual(0);
    expect(at).toBeLessThan(turns.length / 2 + 1);
    await crowded;
    expect(at).toBeLessThan(turns.length - 1);
  });

  it('says of a connection how long those of its own client wait, and not those of another', async () => {
    const { open, waits } = await serve();
    const [alone] = await open(other, 1);
    const sockets = await open(crowd, 120);
    waits.length = 0;
    const crowded = all(sockets);
    await once(sockets[0] as Socket, 'data');
    for (let count = 0; count < 3; count += 1) await answered(alone as Socket);
    await crowded;
    expect(longestWait(waits, crowd)).toBeGreaterThan(workMs * readAtOnce);
    expect(longestWait(waits, other)).toBe(0);
  });

  it('says of a request what it has waited itself, so that those that are read all the time are not refused for others', async () => {
    const { open, reading, waits } = await serve();
    await open(other, 1);
    const sockets = await open(crowd, 120);
    await all(sockets);
    await expect.poll(() => reading.holdsBack).toBe(false);
    await wait(5);
    waits.length = 0;
    await answered(sockets[0] as Socket);
    expect(waits).toEqual([{ address: crowd, unreadMs: 0 }]);
  });

  it('reads hundreds at once while nobody else is there', async () => {
    const { accepted, open, reading } = await serve();
    await open(crowd, 240);
    await expect.poll(() => reading.holdsBack).toBe(false);
    const now = performance.now();
    reading.spare(accepted[0] as Socket, now - 2 * mostTurnAloneMs, now);
    let turns = 0;
    for (; reading.holdsBack; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(turns).toBeLessThan(4);
  });

  it('has connections of a client with many wait once a turn is long, whoever makes the request in it', async () => {
    const { accepted, open, reading } = await serve();
    await open(other, 2);
    await open(crowd, 40);
    const stopped: unknown[] = [];
    for (const socket of accepted as (Socket & { _handle: { readStop(): void } })[])
      socket._handle.readStop = () => void stopped.push(socket.remoteAddress);
    const [mine] = accepted as [Socket];
    reading.spare(mine, 1, 2 + mostTurnMs);
    expect(stopped).toEqual(Array.from({ length: 40 }, () => crowd));
    // Of the others once a second request of theirs has come in the same turn.
    reading.spare(mine, 2, 3 + mostTurnMs);
    expect(stopped).toHaveLength(40);
    reading.spare(mine, 2, 4 + mostTurnMs);
    expect(stopped.slice(40)).toEqual([other, other]);
  });

  it('goes on where dozens that wait one after the other were closed', async () => {
    const { accepted, open, reading } = await serve();
    await open(other, 1);
    const sockets = await open(crowd, 200);
    const ended = sockets.map((socket) => {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      socket.on('error', resolve).once('data', resolve).once('close', resolve).write(get);
      return promise;
    });
    await expect.poll(() => reading.holdsBack, { interval: 1 }).toBe(true);
    for (const socket of accepted.slice(40, 160)) socket.destroy();
    await Promise.all(ended);
    await expect.poll(() => reading.holdsBack).toBe(false);
  });

  it('reads fewer connections in each turn that follows while their requests make it long', async () => {
    const { open, turns } = await serve();
    await open(other, 1);
    const sockets = await open(crowd, 160);
    await all(sockets);
    const later = turns.slice(Math.ceil(turns.length / 2));
    expect(longest(later)).toBeLessThanOrEqual(readAtOnce / 2);
  });

  it('lets many requests of one client come together while nobody else is there, up to a longer time', async () => {
    const { open, turns } = await serve();
    const sockets = await open(crowd, 60);
    await all(sockets);
    expect(longest(turns)).toBeGreaterThan(mostTurnMs / workMs + 2);
    expect(Math.max(...turns.slice(0, 1).map((turn) => turn[crowd] ?? 0))).toBeLessThanOrEqual(
      mostTurnAloneMs / workMs + 2,
    );
  });

  it('has a connection that is opened anew wait for its turn behind those of its client', async () => {
    const { open, port, turns } = await serve();
    await open(other, 1);
    const sockets = await open(crowd, 100);
    const crowded = all(sockets);
    await once(sockets[0] as Socket, 'data');
    const seen = turns.length;
    const late = connect({ port, host: '127.0.0.1', localAddress: crowd });
    onTestFinished(() => void late.destroy());
    await answered(late);
    expect(turns.length - seen).toBeGreaterThan(1);
    await crowded;
  });

  it('forgets connections that close while they wait, and goes on with the others', async () => {
    const { open, reading, turns } = await serve();
    const [alone] = await open(other, 1);
    const sockets = await open(crowd, 120);
    const some = sockets.filter((_socket, index) => index % 2 === 0);
    const gone = sockets.filter((_socket, index) => index % 2 === 1);
    for (const socket of gone) socket.write(get);
    for (const socket of gone) socket.destroy();
    await all(some);
    await answered(alone as Socket);
    await expect.poll(() => reading.holdsBack).toBe(false);
    expect(turns.reduce((sum, turn) => sum + (turn[crowd] ?? 0), 0)).toBeGreaterThanOrEqual(some.length);
  });

  it('does not begin to read a connection that is paused for another reason', async () => {
    const { accepted, open, reading } = await serve();
    await open(other, 1);
    const sockets = await open(crowd, 2);
    const [first, second] = accepted.slice(1) as [Socket, Socket];
    const [paused] = sockets as [Socket, Socket];
    first.pause();
    for (const _request of ['first', 'second']) reading.spare(second, 0, mostTurnMs + 1);
    let hasAnswer = false;
    const answer = answered(paused).then(() => (hasAnswer = true));
    await answered(sockets[1] as Socket);
    await wait(50);
    expect(hasAnswer).toBe(false);
    first.resume();
    await answer;
  });

  it('tells when all are read, so that a server that drains closes none that has brought a request', async () => {
    const { open, reading, turns } = await serve();
    await open(other, 1);
    const sockets = await open(crowd, 120);
    const answers = all(sockets);
    await expect.poll(() => reading.holdsBack, { interval: 1 }).toBe(true);
    await reading.settle();
    expect(reading.holdsBack).toBe(false);
    // Not at once: a thousand together may take more memory than there is.
    expect(longest(turns)).toBeLessThanOrEqual(readAtOnce + mostIdle + mostTurnMs / workMs + 2);
    await answers;
  });

  it('does not wait for long until all are read', async () => {
    const { accepted, open, reading } = await serve();
    await open(other, 1);
    await open(crowd, 40);
    const began = performance.now();
    const again = setInterval(() => reading.spare(accepted[0] as Socket, 0, 2 * mostTurnMs));
    onTestFinished(() => clearInterval(again));
    reading.spare(accepted[0] as Socket, 0, 2 * mostTurnMs);
    await reading.settle();
    clearInterval(again);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
