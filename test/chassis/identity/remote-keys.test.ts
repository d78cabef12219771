import { createServer, type Socket } from 'node:net';
import type { CryptoKey } from 'jose';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { ServiceUnavailableException } from '../../../src/chassis/errors/exceptions.ts';
import { IssuerDocument } from '../../../src/chassis/identity/issuer-document.ts';
import { RemoteKeys } from '../../../src/chassis/identity/remote-keys.ts';
import { SeriesLimit } from '../../../src/chassis/telemetry/metrics/metric-family.ts';
import { OutboundMetrics } from '../../../src/chassis/telemetry/metrics/outbound-metrics.ts';
import { FakePeer, jsonAnswer } from '../../../src/chassis/testing/fake-peer.ts';
import { anIssuerKey, TokenIssuer } from '../../support/token-issuer.ts';
import { memoryLog } from '../http/bare-app.ts';

const [second, third] = [await anIssuerKey('second'), await anIssuerKey('third')];
const issuer = await TokenIssuer.open();
const [first] = issuer.keys as [(typeof issuer.keys)[0]];
afterAll(() => issuer.close());
const hour = 3_600_000;

/** Keys of the issuer, which answers from now on as it should, and what they log. */
function open(
  times: { refreshMs?: number; staleMs?: number; pauseMs?: number } = {},
  where: 'at its URL' | 'by discovery' = 'at its URL',
) {
  const jwksUrl = where === 'at its URL' ? issuer.jwksUrl : undefined;
  issuer.keys = [first];
  issuer.recover();
  const { logger, lines } = memoryLog();
  const metrics = new OutboundMetrics(new SeriesLimit(100));
  const document = new IssuerDocument({ issuer: issuer.url, jwksUrl }, 'test', { logger, metrics });
  onTestFinished(() => document.close());
  const keys = new RemoteKeys(() => document.keys(), { refreshMs: hour, staleMs: hour, pauseMs: 0, ...times }, logger);
  const find = (kid: string): Promise<CryptoKey> => keys.find({ alg: 'ES256', kid }, { payload: '', signature: '' });
  return { keys, find, lines, metrics };
}

describe('RemoteKeys', () => {
  it('asks the issuer once for all tokens that come while it answers, and then no more', async () => {
    const { find } = open();
    await Promise.all(Array.from({ length: 50 }, () => find('first')));
    await find('first');
    expect(issuer.asked).toBe(1);
  });

  it('finds a new key as soon as a token names it, and drops the one that was withdrawn', async () => {
    const { keys, find } = open();
    await find('first');
    const version = keys.version();
    issuer.keys = [second];
    await find('second');
    expect(keys.version()).toBeGreaterThan(version);
    await expect(find('first')).rejects.toThrow('no applicable key');
  });

  it('asks once for any number of keys that nobody has, and still finds those that it knows', async () => {
    const { find } = open({ pauseMs: hour });
    await find('first');
    const flood = Array.from({ length: 2_000 }, (_, index) =>
      find(`../${index}`).catch((error: Error) => error.message),
    );
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['no applicable key found in the JSON Web Key Set']));
    expect(issuer.asked).toBe(1);
    await find('first');
  });

  it('serves on with old keys while new ones are on their way', async () => {
    const { keys, find } = open({ refreshMs: 0, staleMs: hour });
    await find('first');
    issuer.peer.becomes(undefined);
    keys.version();
    await find('first');
    await expect.poll(() => issuer.peer.held).toBe(1);
    issuer.peer.release();
  });

  it.each([
    ['is down', () => issuer.peer.becomes((res) => res.destroy())],
    ['answers 500', () => issuer.peer.becomes(jsonAnswer({}, 500))],
    ['sends clients elsewhere', () => issuer.peer.becomes(jsonAnswer({}, 302, { location: 'http://127.0.0.1:9/' }))],
    ['answers 10 MB', () => issuer.peer.becomes(jsonAnswer({ keys: ['x'.repeat(10_000_000)] }))],
    ['answers what is no JSON', () => issuer.peer.becomes((res) => res.end('<html>'))],
    ['answers with no keys in it', () => issuer.peer.becomes(jsonAnswer({ error: 'maintenance' }))],
    ['answers with keys that are none', () => issuer.peer.becomes(jsonAnswer({ keys: 'all' }))],
  ])('keeps its keys when the issuer %s, and says that of others nothing is known', async (_what, fail) => {
    const { keys, find, lines } = open();
    await find('first');
    fail();
    await expect(find('second')).rejects.toThrow(ServiceUnavailableException);
    await find('first');
    expect(await keys.refresh()).toBe(false);
    expect(lines.filter(({ msg }) => msg === 'keys of the token issuer not loaded').length).toBeGreaterThan(0);
    issuer.keys = [first, second];
    issuer.recover();
    await find('second');
  });

  it('gives up an issuer that hangs after two seconds twice, while known keys serve without waiting', async () => {
    const { find } = open();
    await find('first');
    issuer.peer.becomes(undefined);
    const unknown = find('second').catch((error: unknown) => error);
    await expect.poll(() => issuer.peer.held).toBe(1);
    await find('first');
    expect(await unknown).toBeInstanceOf(ServiceUnavailableException);
    expect(issuer.peer.received).toHaveLength(2);
  }, 20_000);

  it('trusts keys no longer than it may when the issuer stays away', async () => {
    const { keys, find } = open({ refreshMs: 0, staleMs: 0 });
    await find('first');
    issuer.peer.becomes(jsonAnswer({}, 500));
    const version = keys.version();
    expect(keys.version()).toBeGreaterThanOrEqual(version);
    await expect(find('first')).rejects.toThrow(ServiceUnavailableException);
  });

  it('answers that it cannot tell when it never had keys', async () => {
    const { find } = open({ pauseMs: hour });
    issuer.peer.becomes(jsonAnswer({}, 500));
    const failures = await Promise.all([find('first'), find('first')].map((call) => call.catch((error) => error)));
    expect(failures.map(({ statusCode, headers }) => [statusCode, headers])).toEqual(
      Array.from({ length: 2 }, () => [503, { 'Retry-After': '5' }]),
    );
  });

  it('takes no keys of shared secrets, and none that are too weak or not for signatures', async () => {
    const { find } = open();
    const jwk = { kty: 'oct', k: 'c2VjcmV0', kid: 'shared', alg: 'HS256' };
    const weak = { ...third.jwk, kid: 'third', use: 'enc' };
    issuer.peer.becomes(jsonAnswer({ keys: [first.jwk, jwk, weak] }));
    await find('first');
    await expect(find('shared')).rejects.toThrow();
    await expect(find('third')).rejects.toThrow();
  });

  it.each([
    ['names another issuer', () => jsonAnswer({ issuer: 'https://evil.example', jwks_uri: issuer.jwksUrl })],
    ['names no keys', () => jsonAnswer({ issuer: issuer.url })],
    ['names keys that are no URL of http', () => jsonAnswer({ issuer: issuer.url, jwks_uri: 'file:///etc/passwd' })],
    ['is a list', () => jsonAnswer([])],
  ])('refuses a discovery document that %s', async (_what, answer) => {
    const { find, lines } = open({}, 'by discovery');
    const document = answer();
    issuer.peer.becomes((res) => document(res));
    await expect(find('first')).rejects.toThrow(ServiceUnavailableException);
    expect(JSON.stringify(lines)).toContain('.well-known/openid-configuration');
    expect(issuer.asked).toBe(0);
  });

  it('holds connections and a circuit breaker for the place alone at which the issuer has its keys now', async () => {
    const { keys, metrics } = open({}, 'by discovery');
    const hosts = await Promise.all([1, 2, 3].map(() => FakePeer.open(jsonAnswer({ keys: [first.jwk] }))));
    onTestFinished(() => {
      for (const host of hosts) host.close();
    });
    for (const host of hosts) {
      issuer.peer.becomes(jsonAnswer({ issuer: issuer.url, jwks_uri: `${host.url}/keys` }));
      expect(await keys.refresh()).toBe(true);
    }
    await expect.poll(() => Promise.all(hosts.map((host) => host.connections()))).toEqual([0, 0, 1]);
    const breakers = metrics.families.find(({ name }) => name === 'http_client_circuit_breaker_state');
    expect(breakers?.samples().map(({ labels }) => labels)).toEqual(['client="test-discovery"', 'client="test-keys"']);
  });

  it('holds no connection open to an issuer that accepts and says nothing once it is closed', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) =>
      sockets.add(
        socket
          .resume()
          .on('close', () => sockets.delete(socket))
          .on('error', () => undefined),
      ),
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, '127.0.0.1', resolve);
    await promise;
    onTestFinished(() => void server.close());
    const { logger } = memoryLog();
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const watch = { logger, metrics: new OutboundMetrics(new SeriesLimit(100)) };
    const document = new IssuerDocument({ issuer: 'silent', jwksUrl: url }, 'silent', watch);
    const asking = document.keys().catch((error: unknown) => error);
    await expect.poll(() => sockets.size).toBe(1);
    await document.close();
    expect(await asking).toBeInstanceOf(Error);
    await expect.poll(() => sockets.size).toBe(0);
  }, 20_000);
});
