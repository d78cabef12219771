import type { Express } from 'express';
import { ownText, type TrustProxy } from './request-context-of.ts';

/** Addresses that are remembered: more than a service has proxies and, for most, clients in a minute. */
const mostRemembered = 1000;
/** No address is longer that a proxy tells of without a zone. */
const longestRemembered = 45;

/**
 * Has an app believe the proxies that TRUST_PROXY names: `false`, a number of hops, or a comma list of addresses and networks.
 * To hold an address against a list takes a microsecond, and is done twice for each connection and four times for each request,
 * so the answers for the last addresses are kept.
 */
export function trustProxies(app: Express, setting: string): void {
  if (setting === 'false') app.set('trust proxy', false);
  else if (/^\d+$/.test(setting)) app.set('trust proxy', Number(setting));
  else {
    app.set(
      'trust proxy',
      setting.split(',').map((address) => address.trim()),
    );
    app.set('trust proxy', remembering(app.get('trust proxy fn')));
  }
}

/** A list of addresses, for which the hop does not matter. */
function remembering(isTrusted: TrustProxy): TrustProxy {
  const known = new Map<string, boolean>();
  return (address, hop) => {
    const before = known.get(address);
    if (before !== undefined) return before;
    const trusted = isTrusted(address, hop);
    if (address.length > longestRemembered) return trusted;
    if (known.size >= mostRemembered) known.clear();
    known.set(ownText(address), trusted);
    return trusted;
  };
}
