import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { throttledLine } from '../../../src/chassis/telemetry/throttled-line.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }));
afterEach(() => void vi.useRealTimers());

const written = () => {
  const lines: [number, string][] = [];
  return { lines, tell: throttledLine<string>((times, last) => lines.push([times, last])) };
};

it('writes a line for the first event at once, and one for all that follow within ten seconds, though no more come', () => {
  const { lines, tell } = written();
  for (const name of ['a', 'b', 'c']) tell(name);
  expect(lines).toEqual([[1, 'a']]);
  vi.advanceTimersByTime(9_999);
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(lines.slice(1)).toEqual([[2, 'c']]);
});

it('writes nothing while no event comes, and a line for the next one at once after ten quiet seconds', () => {
  const { lines, tell } = written();
  tell('a');
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(1);
  tell('b');
  expect(lines.slice(1)).toEqual([[1, 'b']]);
});

it('writes one line in ten seconds while events come', () => {
  const { lines, tell } = written();
  for (let second = 0; second < 25; second += 1) {
    tell(`${second}`);
    vi.advanceTimersByTime(1000);
  }
  expect(lines).toEqual([
    [1, '0'],
    [9, '9'],
    [10, '19'],
  ]);
});

it('writes in the context in which it was made, not in that of a request whose event it tells of', () => {
  const request = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const tell = throttledLine(() => seen.push(request.getStore()));
  request.run('first', () => tell());
  request.run('second', () => tell());
  vi.advanceTimersByTime(10_000);
  expect(seen).toEqual([undefined, undefined]);
});
