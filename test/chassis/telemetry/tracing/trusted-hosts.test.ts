import { describe, expect, it } from 'vitest';
import { isHostList } from '../../../../src/chassis/config/settings/setting-types.ts';
import { trustedHosts } from '../../../../src/chassis/telemetry/tracing/trusted-hosts.ts';

describe('trustedHosts', () => {
  it.each([
    [
      'internal',
      [
        'orders',
        'orders.shop.svc',
        'orders.shop.svc.cluster.local',
        'localhost',
        '10.1.2.3',
        '172.31.0.1',
        '192.168.0.9',
        '127.0.0.1',
        '::1',
        'fd00::1',
        'api.internal',
      ],
    ],
    ['*', ['example.com', '8.8.8.8']],
    ['api.example.com, .example.org,203.0.113.0/24', ['API.example.com', 'a.b.example.org', '203.0.113.7']],
    ['*.example.org', ['a.example.org']],
  ])('%s trusts %j', (list, hosts) => {
    const trusts = trustedHosts(list);
    for (const host of hosts) expect([host, trusts(host)]).toEqual([host, true]);
  });

  it.each([
    [
      'internal',
      [
        'example.com',
        'orders.shop',
        '8.8.8.8',
        '169.254.169.254',
        '172.32.0.1',
        'svc.example.com',
        '2001:db8::1',
        'internal.example.com',
      ],
    ],
    ['none', ['orders', '10.1.2.3', 'example.com']],
    ['.example.org', ['example.org', 'badexample.org', 'example.org.evil.com']],
    ['203.0.113.0/24', ['orders', '203.0.114.1']],
  ])('%s does not trust %j', (list, hosts) => {
    const trusts = trustedHosts(list);
    for (const host of hosts) expect([host, trusts(host)]).toEqual([host, false]);
  });

  it('takes no list that means something else than it says', () => {
    for (const list of ['internal', 'none', '*', 'a.example.com,.b.com,10.0.0.0/8,::1', '*.b.com'])
      expect([list, isHostList(list)]).toEqual([list, true]);
    for (const list of ['', 'a b', 'http://a', 'a:80', '10.0.0.0/33', 'a/b', 'a.*.com', ','])
      expect([list, isHostList(list)]).toEqual([list, false]);
  });
});
