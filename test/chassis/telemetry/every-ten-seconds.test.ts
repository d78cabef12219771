import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { everyTenSeconds } from '../../../src/chassis/telemetry/every-ten-seconds.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }));
afterEach(() => void vi.useRealTimers());

const written = () => {
  const lines: [number, string][] = [];
  return { lines, tell: everyTenSeconds<string>((times, last) => lines.push([times, last])) };
};

it('writes of the first at once, and of all that followed after ten seconds though nothing more happens', () => {
  const { lines, tell } = written();
  for (const name of ['a', 'b', 'c']) tell(name);
  expect(lines).toEqual([[1, 'a']]);
  vi.advanceTimersByTime(9_999);
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(lines.slice(1)).toEqual([[2, 'c']]);
});

it('writes nothing while nothing happens, and of the next at once after ten quiet seconds', () => {
  const { lines, tell } = written();
  tell('a');
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(1);
  tell('b');
  expect(lines.slice(1)).toEqual([[1, 'b']]);
});

it('writes once in ten seconds of what goes on for longer', () => {
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
