import { expect, it, onTestFinished } from 'vitest';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { SharedPace } from '../../../../src/chassis/http/streams/shared-pace.ts';

it('SharedPace has addresses share its looks equally, so that many streams of one slow down nobody else', async () => {
  const pace = new SharedPace();
  const client = new AbortController();
  onTestFinished(() => client.abort());
  const looks: string[] = [];
  /** Follows until its second look. */
  const follow = async (ipAddress: string) => {
    const { signal } = client;
    const context = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), ipAddress, signal };
    const moments = runWithRequestContext(context, () => pace.moments());
    await runWithRequestContext(context, () => moments.next());
    await moments.next();
    looks.push(ipAddress);
  };
  const crowd = Array.from({ length: 400 }, () => follow('192.0.2.1').catch(() => looks.push('aborted')));
  const began = performance.now();
  await follow('192.0.2.2');
  expect(performance.now() - began).toBeGreaterThan(900);
  expect(looks.at(-1)).toBe('192.0.2.2');
  expect(looks.length).toBeLessThan(200);
  client.abort();
  await Promise.all(crowd);
});
