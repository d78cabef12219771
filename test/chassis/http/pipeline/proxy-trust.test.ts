import express from 'express';
import { describe, expect, it } from 'vitest';
import { trustProxies } from '../../../../src/chassis/http/pipeline/proxy-trust.ts';
import type { TrustProxy } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { heapInUse } from '../../../support/heap-in-use.ts';

function trustBy(setting: string): TrustProxy {
  const app = express();
  trustProxies(app, setting);
  return app.get('trust proxy fn') as TrustProxy;
}

describe('trustProxies', () => {
  it.each([
    ['false', [false, false]],
    ['1', [true, false]],
    ['10.0.0.0/8, 127.0.0.1', [true, true]],
    ['loopback', [true, true]],
    ['192.0.2.0/24', [false, false]],
  ])('believes, by %s, a proxy at 127.0.0.1 by its hop or by its address', (setting, expected) => {
    const isTrusted = trustBy(setting);
    for (let time = 0; time < 2; time += 1) {
      expect([isTrusted('127.0.0.1', 0), isTrusted('127.0.0.1', 1)]).toEqual(expected);
      expect([isTrusted('203.0.113.9', 1), isTrusted('no address', 1), isTrusted('', 1)]).toEqual([
        false,
        false,
        false,
      ]);
    }
  });

  it('keeps few addresses, and of the header that told of one nothing else', () => {
    const isTrusted = trustBy('10.0.0.0/8');
    const before = heapInUse();
    for (let count = 0; count < 5_000; count += 1) {
      const senders = `${'a'.repeat(10_000)},192.0.${count % 250}.${Math.floor(count / 250)}`;
      expect(isTrusted(senders.slice(10_001), 1)).toBe(false);
    }
    expect(heapInUse() - before).toBeLessThan(2_000_000);
    expect(isTrusted('10.0.0.1', 1)).toBe(true);
  });
});
