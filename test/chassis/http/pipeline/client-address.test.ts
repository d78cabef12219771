import { createServer } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { clientAddress, clientKey, type TrustProxy } from '../../../../src/chassis/http/pipeline/client-address.ts';
import { listening } from '../listening.ts';

const proxies = [false, 1, 2, true, ['loopback'], ['loopback', '10.0.0.0/8']];
const headers = [undefined, '192.0.2.1', '192.0.2.1, 10.0.0.1', '192.0.2.1,,10.0.0.1 , ', 'nonsense, 10.1.1.1', ' , '];

describe('clientAddress', () => {
  it.each(proxies.flatMap((proxy) => headers.map((header) => [proxy, header] as const)))(
    'is the ip of Express, with trust in %j and X-Forwarded-For %j',
    async (proxy, header) => {
      const app = express().set('trust proxy', proxy);
      const seen: (string | undefined)[] = [];
      app.use((req, res) => {
        seen.push(req.ip);
        res.end();
      });
      await using server = await listening(
        createServer((req, res) => {
          seen.push(clientAddress(req, app.get('trust proxy fn') as TrustProxy));
          app(req, res);
        }),
      );
      await fetch(`http://127.0.0.1:${server.port}`, {
        headers: header === undefined ? {} : { 'x-forwarded-for': header },
      });
      expect(seen).toHaveLength(2);
      expect(seen[0]).toBe(seen[1]);
    },
  );
});

describe('clientKey', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['[2001:db8:1:2::1]:4711', '2001:db8:1:2::/64'],
    ['::ffff:606:607', '6.6.6.7'],
    [undefined, 'unknown'],
  ])('counts %s as %s', (address, key) => expect(clientKey(address)).toBe(key));

  it('takes any text without raising and in bounded length', () => {
    for (const text of ['', ':', ':::', 'x:y', '::ffff:1.2.3.4.5', ':'.repeat(100)]) {
      expect(clientKey(text).length).toBeLessThan(60);
    }
  });
});
