import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { mostTurnMs } from '../../../src/chassis/admission/fair-reading.ts';
import { all, answered, crowd, getFor, longestWait, other, proxy, serve, workMs } from './reading-server.ts';

const readAtOnce = 64;

describe('FairReading of connections of a proxy', () => {
  it('has each wait with those of the client whose request came on it last', async () => {
    const { open, reading, turns, waits } = await serve();
    const [alone, ...rest] = (await open(proxy, 121, null)) as [Socket, ...Socket[]];
    await answered(alone, getFor(other));
    await all(rest, getFor(crowd));
    await expect.poll(() => reading.holdsBack).toBe(false);
    turns.length = 0;
    waits.length = 0;
    const crowded = all(rest, getFor(crowd));
    await once(rest[0] as Socket, 'data');
    for (let count = 0; count < 3; count += 1) await answered(alone, getFor(other));
    await crowded;
    const others = turns.flatMap((turn, index) => (turn[other] === undefined ? [] : index));
    expect(others).toHaveLength(3);
    expect(turns.reduce((sum, turn) => sum + (turn[crowd] ?? 0), 0)).toBe(120);
    expect(others[0]).toBeLessThan(turns.length / 2);
    expect(longestWait(waits, other)).toBe(0);
    expect(longestWait(waits, crowd)).toBeGreaterThan(workMs * readAtOnce);
  });

  it('answers each request where those of many clients come on the same connections', async () => {
    const { open, reading } = await serve();
    const sockets = await open(proxy, 80);
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(sockets.map((socket, index) => answered(socket, getFor(`10.0.0.${(index * round) % 7}`))));
    }
    await expect.poll(() => reading.holdsBack).toBe(false);
  });

  it('reads those that have brought no request beside those of each client, the last and the first of them in turns', async () => {
    const { accepted, open, reading } = await serve();
    const sockets = await open(proxy, 100, getFor(crowd));
    const fresh = await open(proxy, 60, null);
    await expect.poll(() => reading.holdsBack).toBe(false);
    const read: number[] = [];
    for (const [index, socket] of (accepted as (Socket & { _handle: { readStart(): void } })[]).entries())
      socket._handle.readStart = () => void read.push(index);
    expect(accepted).toHaveLength(sockets.length + fresh.length);
    const now = performance.now();
    reading.spare(accepted[0] as Socket, now - 2 * mostTurnMs, now);
    await expect.poll(() => reading.holdsBack).toBe(false);
    // Which end is first depends on what was read while these connections opened.
    const [first, second, ...rest] = read.filter((index) => index >= 100);
    expect([first, second].toSorted()).toEqual([100, 159]);
    expect(rest.slice(0, 2)).toEqual(first === 159 ? [158, 101] : [101, 158]);
    expect(read).toHaveLength(160);
  });

  it('reads what follows a first request with the rest of its client, so that bodies keep nobody from a first request', async () => {
    const { accepted, open, reading } = await serve();
    await open(proxy, 40, getFor(crowd));
    await open(proxy, 2, null);
    await expect.poll(() => reading.holdsBack).toBe(false);
    const calls: string[] = [];
    for (const [index, socket] of (accepted as (Socket & { _handle: Record<string, () => void> })[]).entries()) {
      socket._handle.readStop = () => void calls.push(`stop ${index}`);
      socket._handle.readStart = () => void calls.push(`start ${index}`);
    }
    const now = performance.now();
    reading.spare(accepted[0] as Socket, now - 2 * mostTurnMs, now);
    calls.length = 0;
    reading.follow(accepted[40] as Socket, other);
    expect(calls).toEqual([]);
    reading.follow(accepted[41] as Socket, crowd);
    expect(calls).toEqual(['stop 41']);
    await expect.poll(() => reading.holdsBack).toBe(false);
    expect(calls.at(-1)).toBe('start 41');
    // And each is stopped once in a long turn, whatever came of it before.
    calls.length = 0;
    reading.spare(accepted[0] as Socket, now, now + 2 * mostTurnMs);
    await expect.poll(() => reading.holdsBack).toBe(false);
    expect(calls.filter((call) => call === 'stop 41')).toHaveLength(1);
    expect(calls.filter((call) => call === 'start 41')).toHaveLength(1);
  });

  it('reads those whose next request may be of anybody after each turn, where clients share them, however many others wait', async () => {
    const { accepted, open, reading } = await serve();
    const shared = await open(proxy, 40, getFor(crowd));
    for (const socket of shared) await answered(socket, getFor(other));
    expect(reading.areShared).toBe(true);
    await open(crowd, 200);
    await expect.poll(() => reading.holdsBack).toBe(false);
    const read: number[] = [];
    for (const [index, socket] of (accepted as (Socket & { _handle: { readStart(): void } })[]).entries())
      socket._handle.readStart = () => void read.push(index);
    const now = performance.now();
    reading.spare(accepted[0] as Socket, now - 2 * mostTurnMs, now);
    await expect.poll(() => reading.holdsBack).toBe(false);
    expect(read.slice(0, 32).every((index) => index < 40)).toBe(true);
    expect(new Set(read).size).toBe(240);
  });

  it.each([
    ['as many as have all read within half a second', 'little', { ms: 200, most: 100, areFewLeft: false, sent: '' }],
    ['all soon', 'little and few connections are left', { ms: 50, most: 80, areFewLeft: true, sent: '' }],
    ['no more than before', 'much', { ms: 200, most: 32, areFewLeft: false, sent: `X-Long: ${'a'.repeat(8_000)}` }],
  ])(
    'reads %s of them in turns that the work of others makes long, where they bring %s',
    async (_, _much, { ms, most, areFewLeft, sent }) => {
      const { accepted, open, reading } = await serve({ areFewLeft });
      const shared = await open(proxy, 300, getFor(crowd));
      await all(shared, getFor(other));
      await all(shared, getFor(other));
      await open(crowd, 1);
      await expect.poll(() => reading.holdsBack).toBe(false);
      let read = 0;
      for (const socket of accepted as (Socket & { _handle: { readStart(): void } })[]) {
        const readStart = socket._handle.readStart.bind(socket._handle);
        socket._handle.readStart = () => {
          read += 1;
          readStart();
        };
      }
      const now = performance.now();
      reading.spare(accepted[0] as Socket, now - 2 * mostTurnMs, now);
      if (sent !== '') for (const socket of shared) socket.write(`GET / HTTP/1.1\r\n${sent}`);
      const inTurns: number[] = [];
      for (let turns = 0; turns < 5; turns += 1) {
        const before = read;
        await longTurn(ms);
        inTurns.push(read - before);
      }
      expect(inTurns[0]).toBe(32);
      expect(Math.max(...inTurns)).toBeGreaterThanOrEqual(most);
      if (sent !== '') expect(Math.max(...inTurns)).toBe(most);
    },
  );

  it('gives a connection back to all clients once its request is answered, also where it is not read then', async () => {
    const { accepted, open, reading } = await serve();
    const [first] = (await open(proxy, 2, getFor(crowd))) as [Socket, Socket];
    await answered(first, getFor(other));
    await open(other, 40);
    const [socket] = accepted as [Socket];
    const now = performance.now();
    reading.follow(socket, other);
    reading.spare(accepted[2] as Socket, now - 2 * mostTurnMs, now);
    expect(reading.holdsBack).toBe(true);
    reading.answered(socket);
    await expect.poll(() => reading.holdsBack).toBe(false);
    for (let round = 0; round < 3; round += 1) await answered(first, getFor(`10.0.0.${round}`));
  });

  it('has a connection wait in one line, also where a request of another client begins that was read before it was stopped', async () => {
    const { accepted, open, reading } = await serve();
    const [first] = (await open(proxy, 2, getFor(crowd))) as [Socket, Socket];
    await answered(first, getFor(other));
    const others = await open(other, 40);
    const [socket] = accepted as [Socket];
    for (const isAnswered of [false, true]) {
      const now = performance.now();
      reading.follow(socket, other);
      reading.spare(accepted[2] as Socket, now - 2 * mostTurnMs, now);
      if (isAnswered) reading.answered(socket);
      reading.follow(socket, crowd);
      reading.answered(socket);
      await expect.poll(() => reading.holdsBack).toBe(false);
      await all([first, ...others], getFor(other));
    }
  });
});

/** Keeps the event loop busy for a turn. */
function longTurn(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => {
      for (const began = performance.now(); performance.now() - began < ms; );
      resolve();
    });
  });
}
