import { closeSync, openSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { currentClientKey, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { pacedReads } from '../../../../src/chassis/uploads/files/paced-reads.ts';

describe('pacedReads', () => {
  it('reads a few pieces at once, of each address in turn, each in the context of its request', async () => {
    const fd = openSync(import.meta.filename, 'r');
    onTestFinished(() => closeSync(fd));
    const order: string[] = [];
    const read = (ipAddress: string) =>
      runWithRequestContext({ requestId: ipAddress, method: 'GET', url: '/', startTime: new Date(), ipAddress }, () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        pacedReads.read(fd, Buffer.alloc(10), 0, 10, 0, () => {
          order.push(currentClientKey());
          resolve();
        });
        return promise;
      });
    const many = Array.from({ length: 100 }, () => read('10.0.0.1'));
    await Promise.all([...many, read('10.0.0.2')]);
    expect(order.filter((address) => address === '10.0.0.1')).toHaveLength(100);
    expect(order.indexOf('10.0.0.2')).toBeLessThan(32);
  });
});
