import { createServer, type IncomingMessage } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import {
  clientAddress,
  requestContextOf,
  type TrustProxy,
} from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { listening } from '../listening.ts';

const proxies = [false, 1, 2, true, ['loopback'], ['loopback', '10.0.0.0/8']];
const headers = [
  ...[undefined, '192.0.2.1', '192.0.2.1, 10.0.0.1', '192.0.2.1,,10.0.0.1 , ', 'nonsense, 10.1.1.1', ' , ', ',', 'a,'],
  ...['127.0.0.1', ' 10.0.0.1 ,127.0.0.1', ',10.0.0.1,,,', '127.0.0.1, 127.0.0.1, 127.0.0.1', 'a b , 10.0.0.1'],
];

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

  it('looks at no more senders than there are proxies', () => {
    const timeOf = (senders: string) => {
      const parts = { headers: { 'x-forwarded-for': senders }, socket: { remoteAddress: '127.0.0.1' } };
      const request = parts as unknown as IncomingMessage;
      const seen = new Set<string | undefined>();
      const began = performance.now();
      for (let count = 0; count < 2_000; count += 1) seen.add(clientAddress(request, (_address, hop) => hop < 2));
      const tookMs = performance.now() - began;
      expect([...seen]).toEqual(['10.0.0.2']);
      return tookMs;
    };
    timeOf('10.0.0.2,10.0.0.1');
    // A list of all of them takes a hundred times as long.
    expect(timeOf(`${'192.0.2.1,'.repeat(5_000)}10.0.0.2,10.0.0.1`)).toBeLessThan(10 * timeOf('10.0.0.2,10.0.0.1'));
  });

  it.each([1, ['loopback']])(
    'is none where a proxy, trusted by %j, passes on what is too long to be one',
    async (proxy) => {
      const app = express().set('trust proxy', proxy);
      const seen: (string | undefined)[] = [];
      app.use((req, res) => {
        seen.push(requestContextOf(req).ipAddress);
        res.end();
      });
      await using server = await listening(
        createServer((req, res) => {
          seen.push(clientAddress(req, app.get('trust proxy fn') as TrustProxy));
          app(req, res);
        }),
      );
      const ask = (sender: string) =>
        fetch(`http://127.0.0.1:${server.port}`, { headers: { 'x-forwarded-for': `192.0.2.1, ${sender}` } });
      await ask('a'.repeat(10_000));
      expect(seen).toEqual([undefined, undefined]);
      for (const sender of [
        '2001:db8:1111:2222:3333:4444:5555:6666',
        '[fe80::1%eth0]:443',
        '192.0.2.7:80',
        'unknown',
      ]) {
        await ask(sender);
        expect(seen.splice(2)).toEqual([sender, sender]);
      }
      await ask('sent password=opensesame');
      expect(seen.slice(2)).toEqual(Array(2).fill('sent password=[redacted]'));
    },
  );
});
