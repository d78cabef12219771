import { isIPv4 } from 'node:net';

/** What an IPv6 address is counted under: its /64, or the IPv4 address that is written as it. */
export function keyOfIPv6(address: string): string {
  const plain = withoutPort(address).split('%', 1)[0] ?? '';
  const mapped = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  const [left = '', right] = plain.split('::');
  const before = groups(left);
  const after = groups(right ?? '');
  const zeros = right === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const all = [...before, ...zeros, ...after];
  if (/^0:0:0:0:0:ffff:/.test(all.join(':'))) return embedded(all.slice(6));
  return `${all.slice(0, 4).join(':')}::/64`;
}

/** The IPv4 address that the last two groups are. */
function embedded(last: readonly string[]): string {
  return last.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.');
}

/** Some proxies put the client's port into X-Forwarded-For: `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(address: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
}

/** Groups in their shortest form. An IPv4 address at the end stands for two of them. */
function groups(part: string): string[] {
  if (part === '') return [];
  return part
    .split(':')
    .flatMap((group) => (group.includes('.') ? ['0', '0'] : [(Number.parseInt(group, 16) || 0).toString(16)]));
}
