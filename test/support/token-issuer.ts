import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { FakePeer, jsonAnswer } from '../../src/chassis/testing/fake-peer.ts';

/** A pair of keys of an issuer; the public one is as its JWKS document shows it. */
export interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

/** A new pair of keys. */
export async function anIssuerKey(kid: string, alg = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** What a token is made of, where it is not as the issuer makes them; undefined leaves a claim or field out. */
export interface TokenParts {
  header?: Record<string, unknown>;
  key?: IssuerKey;
}

/** An identity provider on loopback: discovery, a JWKS document, and tokens that it signs. */
export class TokenIssuer {
  readonly peer: FakePeer;
  keys: IssuerKey[];

  private constructor(peer: FakePeer, keys: IssuerKey[]) {
    this.peer = peer;
    this.keys = keys;
  }

  static async open(keys: readonly IssuerKey[] = []): Promise<TokenIssuer> {
    const issuer = new TokenIssuer(await FakePeer.open(), [await anIssuerKey('first'), ...keys]);
    issuer.recover();
    return issuer;
  }

  /** With a path, as realms have one. */
  get url(): string {
    return `${this.peer.url}/realms/test`;
  }

  get jwksUrl(): string {
    return `${this.peer.url}/keys`;
  }

  /** The settings of a service that trusts it. */
  get env(): Record<string, string> {
    return { AUTH_ISSUER: this.url, AUTH_AUDIENCE: 'notes,others' };
  }

  /** Answers as it should, with the keys of then. */
  recover(): void {
    this.peer.becomes((res, { url }) => {
      if (url === '/realms/test/.well-known/openid-configuration') {
        return jsonAnswer({ issuer: this.url, jwks_uri: this.jwksUrl })(res);
      }
      if (url === '/keys') return jsonAnswer({ keys: this.keys.map(({ jwk }) => jwk) })(res);
      return jsonAnswer({}, 404)(res);
    });
  }

  /** How often its keys were asked for since `recover`. */
  get asked(): number {
    return this.peer.received.filter(({ url }) => url === '/keys').length;
  }

  /** A token of now for `ann`, with these claims in place of the usual ones. */
  async token(claims: Record<string, unknown> = {}, { header = {}, key = this.keys[0] }: TokenParts = {}) {
    if (!key) throw new Error('Expected a key to sign with, found none.');
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: this.url, aud: 'notes', sub: 'ann', iat: now, exp: now + 600, ...claims };
    const protectedHeader = { alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header };
    return new SignJWT(JSON.parse(JSON.stringify(all)))
      .setProtectedHeader(JSON.parse(JSON.stringify(protectedHeader)))
      .sign(key.privateKey);
  }

  close(): void {
    this.peer.close();
  }
}
