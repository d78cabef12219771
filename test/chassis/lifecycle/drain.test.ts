import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { OpenSet } from '../../../src/chassis/lifecycle/drain.ts';

const responses = Array.from({ length: 4 }, () => new ServerResponse(new IncomingMessage(new Socket())));

describe('OpenSet', () => {
  it.each([
    ['first to last', [0, 1, 2, 3]],
    ['last to first', [3, 2, 1, 0]],
    ['anyhow', [1, 3, 0, 2]],
  ])('holds what was added and not removed (%s)', (_name, order) => {
    const inFlight = new OpenSet<ServerResponse>();
    for (const response of responses) inFlight.add(response);
    const left = new Set(responses);
    for (const index of order) {
      inFlight.remove(responses[index] as ServerResponse);
      left.delete(responses[index] as ServerResponse);
      expect(new Set(inFlight)).toEqual(left);
    }
  });

  it('holds what is in another set too', () => {
    const [one, other] = [new OpenSet<ServerResponse>(), new OpenSet<ServerResponse>()];
    for (const response of responses) one.add(response);
    for (const response of [...responses].reverse()) other.add(response);
    for (const response of responses) one.remove(response);
    expect([one.size, new Set(other)]).toEqual([0, new Set(responses)]);
  });

  it('takes one again that was removed', () => {
    const inFlight = new OpenSet<ServerResponse>();
    const [one, other] = responses as [ServerResponse, ServerResponse];
    inFlight.add(one);
    inFlight.add(other);
    inFlight.remove(one);
    inFlight.add(one);
    inFlight.remove(other);
    expect([...inFlight]).toEqual([one]);
  });
});
