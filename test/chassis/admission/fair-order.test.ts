import { describe, expect, it } from 'vitest';
import { FairOrder } from '../../../src/chassis/admission/fair-order.ts';

interface Work {
  client: string;
  turns: number;
  earliest: number;
}

/** A place that has one work after the other, of clients that wait. */
function place() {
  const had = new Map<string, number>();
  const order = new FairOrder((client) => had.get(client) ?? 0);
  const waiting: Work[] = [];
  return {
    rest: () => order.rest(),
    ask(client: string): Work {
      const work = { client, turns: 1, earliest: order.earliest };
      waiting.push(work);
      return work;
    },
    next(): Work | undefined {
      const [first] = order.inOrder(waiting);
      if (!first) return undefined;
      waiting.splice(waiting.indexOf(first), 1);
      order.begin(first);
      had.set(first.client, (had.get(first.client) ?? 0) + 1);
      return first;
    },
  };
}

const others = Array.from({ length: 8 }, (_, index) => `198.51.100.${index}`);

describe('FairOrder', () => {
  it('has who was there wait for newcomers once each, however many turns it had before them', () => {
    const { ask, next, rest } = place();
    for (let turn = 0; turn < 50; turn += 1) {
      ask('office');
      next();
      rest();
    }
    for (let time = 0; time < 7; time += 1) for (const other of others) ask(other);
    const own = ask('office');
    const turns = Array.from({ length: 57 }, next);
    expect(turns.indexOf(own)).toBeLessThanOrEqual(others.length);
  });

  it('hardly has who asks for less than its part wait for those who ask for more', () => {
    const { ask, next } = place();
    const waits: number[] = [];
    for (const other of others) for (let time = 0; time < 7; time += 1) ask(other);
    for (let turn = 0; turn < 600; turn += 20) {
      const own = ask('office');
      for (let wait = 0; wait < 20; wait += 1) {
        const begun = next();
        if (begun === own) waits.push(wait);
        else ask(begun?.client ?? '');
      }
    }
    expect(waits).toHaveLength(30);
    expect(Math.max(...waits.slice(1))).toBeLessThanOrEqual(1);
  });

  it('keeps no part for who was away: some who come together do not keep out who asks for its part', () => {
    const { ask, next } = place();
    ask('first');
    for (let turn = 0; turn < 100; turn += 1) ask(next()?.client ?? '');
    for (let time = 0; time < 20; time += 1) for (const other of others) ask(other);
    const turns = Array.from({ length: 9 * 6 }, () => {
      const begun = next();
      if (begun?.client === 'first') ask('first');
      return begun?.client;
    });
    expect(turns.filter((client) => client === 'first').length).toBeGreaterThanOrEqual(3);
  });
});
