import { describe, expect, it } from 'vitest';
import { AddressTurns } from '../../../../src/chassis/http/streams/address-turns.ts';

/** Has addresses come, and tells which of them got their place in what order. */
function waiting(turns: AddressTurns, addresses: readonly string[]): string[] {
  const begun: string[] = [];
  for (const address of addresses) void turns.come(address)?.then(() => begun.push(address));
  return begun;
}

/** Gives back a place, and waits until who gets it has begun. */
async function leave(turns: AddressTurns): Promise<void> {
  turns.leave();
  await Promise.resolve();
}

describe('AddressTurns', () => {
  it('lends free places at once, and then to each address in turn', async () => {
    const turns = new AddressTurns(2);
    expect([turns.come('a'), turns.come('a')]).toEqual([undefined, undefined]);
    const begun = waiting(turns, ['a', 'a', 'a', 'b', 'c', 'b']);
    for (let left = 6; left > 0; left -= 1) await leave(turns);
    expect(begun).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
    for (let left = 2; left > 0; left -= 1) await leave(turns);
    expect([turns.come('a'), turns.come('a')]).toEqual([undefined, undefined]);
    expect(turns.come('a')).toBeInstanceOf(Promise);
  });

  it('is crowded by an address with more than its part of many that wait, and by one alone only with very many', () => {
    const turns = new AddressTurns(0);
    const wait = (address: string, count: number) =>
      waiting(
        turns,
        Array.from({ length: count }, () => address),
      );
    wait('a', 63);
    expect(turns.isCrowdedBy('a')).toBe(false);
    wait('a', 900);
    expect(turns.isCrowdedBy('a')).toBe(false);
    wait('a', 61);
    expect([turns.isCrowdedBy('a'), turns.isCrowdedBy('b')]).toEqual([true, false]);
    wait('b', 8);
    expect(turns.isCrowdedBy('b')).toBe(false);
    wait('b', 24);
    expect(turns.isCrowdedBy('b')).toBe(true);
  });
});
