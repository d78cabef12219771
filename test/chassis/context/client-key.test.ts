import { describe, expect, it } from 'vitest';
import { clientKey } from '../../../src/chassis/context/request-context.ts';

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
