import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';

/** Whether the address of a hop, 0 being the one that is connected, belongs to a proxy that is trusted. */
export type TrustProxy = (address: string, hop: number) => boolean;

/**
 * The address that a request comes from, as far as trusted proxies tell it: the same as `req.ip` of Express, for what sees
 * requests before Express does.
 */
export function clientAddress({ headers, socket }: IncomingMessage, isTrusted: TrustProxy): string | undefined {
  const forwarded = headers['x-forwarded-for'];
  let address = socket.remoteAddress;
  if (forwarded === undefined || address === undefined || !isTrusted(address, 0)) return address;
  const senders = String(forwarded)
    .split(',')
    .map((sender) => sender.trim())
    .filter((sender) => sender !== '');
  for (let hop = 0; senders.length > 0 && isTrusted(address, hop); hop += 1) address = senders.pop() as string;
  return address;
}

/**
 * What a client address is counted under. An IPv6 subscriber has a /64 at least, all of which counts as one; an IPv4
 * address written as IPv6 counts as what it is.
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined || !address.includes(':')) return address ?? 'unknown';
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
