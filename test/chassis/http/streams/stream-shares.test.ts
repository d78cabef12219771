import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../../src/chassis/context/request-context.ts';
import { ServiceUnavailableException, TooManyRequestsException } from '../../../../src/chassis/errors/exceptions.ts';
import { StreamShares } from '../../../../src/chassis/http/streams/stream-shares.ts';

const from = (ipAddress: string, userId: string) => ({ ipAddress, userId }) as RequestContext;

describe('streams of rows', () => {
  it('are a quarter of all for one address, however many accounts it has, and others get theirs', () => {
    const shares = new StreamShares(8);
    const leave = shares.enterRows(from('192.0.2.1', 'a'), 1);
    shares.enterRows(from('192.0.2.1', 'b'), 1);
    expect(() => shares.enterRows(from('192.0.2.1', 'c'), 1)).toThrow(TooManyRequestsException);
    shares.enterRows(from('192.0.2.2', 'c'), 1);
    leave();
    shares.enterRows(from('192.0.2.1', 'd'), 1);
  });

  it('are no more than the memory is enough for, whoever opens them', () => {
    const shares = new StreamShares(2);
    const leave = shares.enterRows(from('192.0.2.1', 'a'), 1);
    shares.enterRows(from('192.0.2.2', 'b'), 1);
    expect(() => shares.enterRows(from('192.0.2.3', 'c'), 1)).toThrow(ServiceUnavailableException);
    leave();
    shares.enterRows(from('192.0.2.3', 'c'), 1);
  });

  it('that are refused leave no count behind', () => {
    const shares = new StreamShares(100);
    const leave = shares.enterRows(from('192.0.2.1', 'a'), 1);
    for (let tried = 0; tried < 200; tried += 1) {
      expect(() => shares.enterRows(from('192.0.2.1', 'a'), 1)).toThrow(/^1 streams of yours/);
    }
    leave();
    shares.enterRows(from('192.0.2.1', 'a'), 1);
  });
});
