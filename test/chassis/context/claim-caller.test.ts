import { expect, it } from 'vitest';
import {
  callerKey,
  claimCaller,
  currentPrincipal,
  getRequestContext,
  runWithRequestContext,
} from '../../../src/chassis/context/request-context.ts';

it('counts work with the user of a credential before it is known to hold, and makes nobody the caller', () => {
  const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress: '192.0.2.1' };
  runWithRequestContext(context, () => {
    expect(callerKey(getRequestContext())).toBe('192.0.2.1');
    claimCaller('u1');
    expect([callerKey(getRequestContext()), currentPrincipal()]).toEqual(['user u1', undefined]);
  });
});
