import { isIP } from 'node:net';
import { z } from 'zod';

/** A setting that counts: a whole number written in decimal digits, within bounds. */
export function wholeNumber(minimum: number, maximum: number, fallback: number) {
  return z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum, {
      error: `expected a whole number from ${minimum} to ${maximum}`,
    })
    .transform(Number)
    .default(fallback);
}

/** A setting that is on or off: true, false, 1, 0, yes, no, on or off. */
export function flag(fallback: boolean) {
  return z
    .stringbool({
      truthy: ['true', '1', 'yes', 'on'],
      falsy: ['false', '0', 'no', 'off'],
      error: 'expected true or false',
    })
    .default(fallback);
}

/**
 * Whether a text is what Express trusts as proxies: `false`, hops, or addresses, networks and their well-known names. A
 * network of everybody is none: whoever sends a request could say where it comes from.
 */
export function isProxyList(text: string): boolean {
  if (text === 'false' || /^\d{1,2}$/.test(text)) return true;
  return text.split(',').every((entry) => {
    const [address = '', bits, ...rest] = entry.trim().split('/');
    if (['loopback', 'linklocal', 'uniquelocal'].includes(address)) return bits === undefined;
    const version = isIP(address);
    const widest = version === 4 ? 32 : 128;
    return (
      version > 0 &&
      !address.includes('%') &&
      rest.length === 0 &&
      (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= widest))
    );
  });
}

/** Whether a text is `*` or a comma list of origins: scheme, host and port, and nothing behind them. */
export function isOriginList(text: string): boolean {
  return text === '*' || text.split(',').every((entry) => URL.parse(entry.trim())?.origin === entry.trim());
}

/**
 * Whether a text is an absolute URL of one of these schemes, with a port that can be connected to where it has one.
 *
 * @param schemes without the colon, e.g. `http`
 */
export function isUrlOf(text: string, ...schemes: readonly string[]): boolean {
  const url = URL.parse(text);
  return url !== null && url.port !== '0' && schemes.includes(url.protocol.slice(0, -1));
}

/** Whether a text is the URL of a server for the API page: absolute or a path, and without a password in it. */
export function isPublicUrl(text: string): boolean {
  const url = URL.parse(text, 'http://localhost');
  return url !== null && /^https?:$/.test(url.protocol) && url.port !== '0' && url.username + url.password === '';
}
