import type { Express } from 'express';
import { maximumAddressLength, ownText, type TrustProxy } from './request-context-of.ts';

/** Addresses that are remembered: more than a service has proxies and, for most, clients in a minute. */
const mostRemembered = 1000;

/**
 * Has an app believe the proxies that TRUST_PROXY names: `false`, a number of hops, or a comma list of addresses and networks.
 * To hold an address against a list takes a microsecond, and is done twice for each connection and four times for each request,
 * so the answers for the last addresses are kept.
 */
export function trustProxies(app: Express, setting: string): void {
  const proxies = proxiesOf(setting);
  app.set('trust proxy', proxies);
  // What Express made of the list is asked no more often than needed.
  if (Array.isArray(proxies)) app.set('trust proxy', remembering(app.get('trust proxy fn')));
}

/** Whether TRUST_PROXY names any proxy. */
export function trustsProxies(setting: string): boolean {
  return Boolean(proxiesOf(setting));
}

/** What Express takes: a number of hops, a list of addresses, or nobody. */
function proxiesOf(setting: string): false | number | string[] {
  if (setting === 'false') return false;
  return /^\d+$/.test(setting) ? Number(setting) : setting.split(',').map((address) => address.trim());
}

/** For a list of addresses, where the hop does not matter. */
function remembering(isTrusted: TrustProxy): TrustProxy {
  const known = new Map<string, boolean>();
  return (address, hop) => {
    const before = known.get(address);
    if (before !== undefined) return before;
    const trusted = isTrusted(address, hop);
    if (address.length > maximumAddressLength) return trusted;
    if (known.size >= mostRemembered) known.clear();
    known.set(ownText(address), trusted);
    return trusted;
  };
}
