import { beforeEach, describe, expect, it } from 'vitest';
import { DatabaseWait } from '../../../src/chassis/admission/standing-wait.ts';

let now: number;
let queue: Record<'waiting' | 'served' | 'waitingQueries' | 'heldBackQueries' | 'servedQueries', number>;
let wait: DatabaseWait;

beforeEach(() => {
  now = 100_000;
  queue = { waiting: 0, served: 0, waitingQueries: 0, heldBackQueries: 0, servedQueries: 0 };
  wait = new DatabaseWait(
    Object.assign(queue, {
      ...{ places: 1, ordinaryQueries: 0, ordinaryHeldBackQueries: 0 },
      ...{ heldBackMs: () => 0, clientMs: () => 12, onUse: () => undefined },
    }),
  );
  wait.at(now);
});

/** The database serves `served` requests in every 10 ms while `waiting` wait. */
function pass(ms: number, served: number, waiting: number): number {
  let last = 0;
  for (let at = 0; at < ms; at += 10) {
    now += 10;
    queue.served += served;
    queue.waiting = waiting;
    queue.servedQueries += served;
    queue.waitingQueries = waiting;
    last = wait.at(now);
  }
  return last;
}

describe('DatabaseWait', () => {
  it('is what it takes to serve those who wait, at the rate at which others were served', () => {
    expect(pass(400, 5, 100)).toBeCloseTo(200);
    queue.waiting = 300;
    queue.waitingQueries = 300;
    expect(wait.at(now)).toBeCloseTo(600);
  });

  it('follows the rate of a database that has become slower', () => {
    pass(400, 5, 100);
    expect(pass(1000, 1, 100)).toBeGreaterThan(950);
  });

  it('grows without end while a database serves nobody', () => {
    pass(400, 5, 100);
    expect(pass(1000, 0, 100)).toBeGreaterThan(10_000);
  });

  it('is nothing while nobody waits, and before anything is known', () => {
    expect(pass(50, 0, 100)).toBe(0);
    expect(pass(1000, 5, 0)).toBe(0);
  });

  it('takes a database with little to do for no slow one', () => {
    pass(2000, 0, 0);
    queue.waiting = 50;
    queue.waitingQueries = 50;
    expect(wait.at(now)).toBe(0);
    expect(pass(300, 5, 50)).toBeCloseTo(100);
  });

  it('forgets a rate that is of another time', () => {
    pass(400, 5, 100);
    now += 1100;
    expect(wait.at(now)).toBe(0);
  });

  it('grows from what serves one while none was served yet, and is never without end', () => {
    const waits = [200, 100, 100].map((ms) => pass(ms, 0, 1));
    expect(waits).toEqual([100, 200, 400]);
  });

  it('is that of two queries where others have very many', () => {
    for (let at = 0; at < 400; at += 10) {
      now += 10;
      queue.servedQueries += 10;
      queue.waitingQueries = 200;
      queue.waiting = 10;
      queue.served += at % 100 === 0 ? 1 : 0;
      wait.at(now);
    }
    expect(wait.at(now)).toBeCloseTo(400);
  });

  it('is two fair turns for a client that has nothing there, whatever waits of others', () => {
    expect(pass(400, 1, 60)).toBeCloseTo(600);
    expect(wait.ofClient('10.0.0.1')).toBe(24);
  });
});
