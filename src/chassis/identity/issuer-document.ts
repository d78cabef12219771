import type { JSONWebKeySet } from 'jose';
import { isPeerUrl } from '../config/settings/setting-types.ts';
import { PeerClient, type PeerWatch } from '../outbound/peer-client.ts';

/** Where an issuer and its keys are. */
export interface IssuerAddress {
  issuer: string;
  /** The JWKS document; found by discovery where it is undefined. */
  jwksUrl: string | undefined;
}

const discoveryPath = '/.well-known/openid-configuration';
/** A JWKS document has a few KB. */
const maxBytes = 262_144;

/**
 * Asks an issuer for its keys, at the address that it was given, or by OpenID Connect discovery. Connections, time-outs,
 * bounds and metrics are those of calls to other services; redirects are not followed.
 */
export class IssuerDocument {
  readonly #address: IssuerAddress;
  readonly #name: string;
  readonly #watch: PeerWatch;
  /** The last one of each kind: an issuer that moves its keys leaves no connections behind. */
  readonly #clients = new Map<string, { origin: string; client: PeerClient }>();

  /** @param name names the clients in logs and metrics: `<name>-keys`, `<name>-discovery` */
  constructor(address: IssuerAddress, name: string, watch: PeerWatch) {
    this.#address = address;
    this.#name = name;
    this.#watch = watch;
  }

  /** The keys of now. @throws BaseException or Error that tells what was wrong */
  async keys(): Promise<JSONWebKeySet> {
    const url = this.#address.jwksUrl ?? (await this.#discovered());
    return (await this.#json(url, 'keys')) as JSONWebKeySet;
  }

  /** Ends the connections. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map(({ client }) => client.close()));
  }

  async #discovered(): Promise<string> {
    const { issuer } = this.#address;
    const document = (await this.#json(`${issuer.replace(/\/$/, '')}${discoveryPath}`, 'discovery')) as {
      issuer?: unknown;
      jwks_uri?: unknown;
    } | null;
    const { issuer: named, jwks_uri: url } = document ?? {};
    if (named !== issuer) {
      throw new Error(`Expected ${discoveryPath} of ${issuer} to name that issuer, found ${JSON.stringify(named)}.`);
    }
    if (typeof url === 'string' && isPeerUrl(url.split('?', 1)[0] as string)) {
      if (url.startsWith('https:') || !issuer.startsWith('https:')) return url;
    }
    throw new Error(
      `Expected ${discoveryPath} of ${issuer} to name a jwks_uri by https, found ${JSON.stringify(url)}.`,
    );
  }

  async #json(url: string, what: 'keys' | 'discovery'): Promise<unknown> {
    const { origin, pathname, search } = new URL(url);
    const client = await this.#client(origin, what);
    const { data } = await client.get(pathname + search);
    // A bucket gives it another type than JSON.
    return typeof data === 'string' || data instanceof Uint8Array ? JSON.parse(String(data)) : data;
  }

  async #client(origin: string, what: string): Promise<PeerClient> {
    const known = this.#clients.get(what);
    if (known?.origin === origin) return known.client;
    await known?.client.close();
    const options = { url: origin, headers: {}, timeoutMs: 2_000, retries: 1, connections: 2, maxBytes };
    const client = new PeerClient(`${this.#name}-${what}`, options, this.#watch);
    this.#clients.set(what, { origin, client });
    return client;
  }
}
