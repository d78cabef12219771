import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LongAnswers } from '../../../../src/chassis/http/answers/long-answers.ts';

const recordBytes = 2560;
const response = () => new ServerResponse(new IncomingMessage(new Socket()));

afterEach(() => {
  vi.useRealTimers();
});

describe('what is known of long answers', () => {
  it('is how long those to a list were as of late, five times which an answer needs, in the service that gave them alone', () => {
    const [long, other] = [new LongAnswers(recordBytes), new LongAnswers(recordBytes)];
    const list = {};
    long.note(list, 100, 2_560_000, response());
    // Five times the length of each, in records of 2,560 bytes; a little less, as time goes by.
    expect(long.neededFor(list, 200) / 10_000).toBeCloseTo(1, 2);
    expect([other.neededFor(list, 200), long.neededFor({}, 200)]).toEqual([200, 200]);
  });

  it('lowers what an answer needs that might have had more records, to a quarter at least, for a minute', () => {
    vi.useFakeTimers();
    const long = new LongAnswers(recordBytes);
    const [few, fewer] = [{}, {}];
    long.note(few, 20_000, 5_120_000, response());
    long.note(fewer, 20_000, 1_024_000, response());
    expect(long.neededFor(few, 20_000) / 10_000).toBeCloseTo(1, 2);
    expect(long.neededFor(fewer, 20_000)).toBe(5000);
    vi.advanceTimersByTime(60_000);
    expect(long.neededFor(few, 20_000)).toBe(20_000);
  });
});
