import { randomBytes } from 'node:crypto';
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

/**
 * A setting with the secrets that sign webhooks, of 16 characters at least: a comma list, so that a new one is taken before the
 * old one is left out. Required in production; elsewhere random until it is set.
 *
 * @param description what they are for, for the table of settings
 */
export function signingSecrets(description: string) {
  return z
    .string()
    .refine((list) => list.split(',').every((secret) => secret.trim().length >= 16), {
      error: 'expected a comma list of secrets of at least 16 characters',
    })
    .transform((list) => list.split(',').map((secret) => secret.trim()))
    .default(() => [randomBytes(32).toString('base64url')])
    .describe(description)
    .meta({ secret: true, requiredInProduction: true });
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
 * network wider than /8 (IPv4) or /16 (IPv6) is none: clients in it could say that they come from elsewhere.
 */
export function isProxyList(text: string): boolean {
  if (text === 'false' || /^\d{1,2}$/.test(text)) return true;
  return text.split(',').every((entry) => {
    const [address = '', bits, ...rest] = entry.trim().split('/');
    if (['loopback', 'linklocal', 'uniquelocal'].includes(address)) return bits === undefined;
    if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return false;
    const [widest, narrowest] = prefixesOf(address);
    return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= widest && Number(bits) <= narrowest);
  });
}

/** How many bits the prefix of a network of proxies has, from the widest one to a single address. */
function prefixesOf(address: string): readonly [widest: number, narrowest: number] {
  if (isIP(address) === 4) return [8, 32];
  const isMapped = URL.parse(`http://[${address}]`)?.hostname.startsWith('[::ffff:') === true;
  return isMapped ? [104, 128] : [16, 128];
}

/** Whether a text is a comma list of host names, names with all below them as `.example.com`, addresses and networks. */
export function isHostList(text: string): boolean {
  return text.split(',').every((entry) => isNetwork(entry.trim()) || /^(\*|(\*?\.)?[\w-][\w.-]*)$/.test(entry.trim()));
}

function isNetwork(entry: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
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

/** Whether a text is the base URL of a service to call: http or https, without user, password and parameters. */
export function isPeerUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !isUrlOf(text, 'http', 'https') || /[?#]/.test(text)) return false;
  return url.username + url.password === '';
}

/** Whether a text is the URL of a server for the API page: absolute or a path, without a password or parameters in it. */
export function isPublicUrl(text: string): boolean {
  const url = URL.parse(text, 'http://localhost');
  if (url === null || !/^https?:$/.test(url.protocol) || url.port === '0' || /[?#]/.test(text)) return false;
  return url.username + url.password === '';
}
