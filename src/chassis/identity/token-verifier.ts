import { hash } from 'node:crypto';
import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters, JWTPayload, JWTVerifyOptions, KeyObject } from 'jose';
import { BaseException } from '../errors/exceptions.ts';
import { invalidToken } from './bearer-token.ts';

/** The claims of a verified access token (RFC 7519). */
export type TokenClaims = Readonly<JWTPayload> & { readonly sub: string; readonly exp: number };

/** Where the keys are that tokens are verified with. */
export interface VerificationKeys {
  /** The key of a token. @throws Error when there is none, which refuses the token */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey | KeyObject>;
  /** Changes when a key is withdrawn, and with it what was verified before. */
  version(): number;
}

/** What a token has to be. */
export interface TokenRules extends Pick<JWTVerifyOptions, 'issuer' | 'audience'> {
  algorithms: string[];
  /** Types (`typ`) that are taken, in lower case and without `application/`; an empty one stands for none. */
  types: readonly string[];
  clockToleranceSeconds: number;
  /** Claims beside `sub`, `iss`, `aud` and `exp` that it has to have. */
  requiredClaims?: readonly string[];
}

interface Verified<T> {
  readonly value: T;
  /** By `Date.now()`. */
  readonly until: number;
}

/** The form of a signed token (RFC 7515, 7.1): a decoder takes padding and other characters too, which make one token many. */
const compact = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/**
 * Characters of the first of them at most, which names an algorithm and a key, with certificates at the longest. It is read
 * several times before anybody has signed for it: one of 11 KB took five times what refusing a usual token does.
 */
const longestHeader = 4_096;
/** How many tokens are remembered; each takes about 1 KB. */
const mostRemembered = 2_000;

/**
 * Verifies access tokens, and remembers by their hash those that hold, until they expire or the keys change: a token comes
 * with many requests, and its signature is most of what they cost.
 */
export class TokenVerifier<T> {
  readonly #keys: VerificationKeys;
  readonly #rules: TokenRules;
  readonly #options: JWTVerifyOptions;
  readonly #make: (claims: TokenClaims) => T;
  readonly #remembered = new Map<string, Verified<T>>();
  #version = 0;

  /** @param make what is made of the claims, once for each token; undefined refuses it */
  constructor(keys: VerificationKeys, rules: TokenRules, make: (claims: TokenClaims) => T) {
    const { issuer, audience, algorithms, clockToleranceSeconds, requiredClaims = [] } = rules;
    this.#keys = keys;
    this.#rules = rules;
    this.#make = make;
    this.#options = {
      algorithms,
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ['sub', 'exp', ...requiredClaims],
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience }),
    };
  }

  /** What was made of a token that holds. @throws UnauthorizedException, the same one for every cause */
  async verify(token: string): Promise<NonNullable<T>> {
    if (!compact.test(token)) throw invalidToken('expected three parts of base64url without padding');
    if (token.indexOf('.') > longestHeader)
      throw invalidToken(`expected a header of at most ${longestHeader} characters`);
    const version = this.#keys.version();
    if (version !== this.#version) this.#remembered.clear();
    this.#version = version;
    const id = hash('sha256', token, 'base64');
    const known = this.#remembered.get(id);
    if (known && Date.now() < known.until) return known.value as NonNullable<T>;
    const claims = await this.#claimsOf(token);
    const value = this.#make(claims);
    if (value === undefined || value === null) throw invalidToken('the claims name no caller');
    const until = (claims.exp + this.#rules.clockToleranceSeconds) * 1000;
    // Keys may have changed while the signature was checked.
    if (this.#keys.version() === version) this.#remember(id, { value, until });
    return value;
  }

  async #claimsOf(token: string): Promise<TokenClaims> {
    const { errors, jwtVerify } = await import('jose');
    try {
      const find = (header: JWSHeaderParameters, input: FlattenedJWSInput) => this.#keys.find(header, input);
      const { payload, protectedHeader } = await jwtVerify(token, find, this.#options);
      const type = (protectedHeader.typ ?? '').toLowerCase().replace(/^application\//, '');
      if (!this.#rules.types.includes(type)) throw new errors.JWTInvalid(`unexpected typ ${JSON.stringify(type)}`);
      // Who may use it has to show a key, which nobody asks for here (RFC 7800).
      if ('cnf' in payload) throw new errors.JWTInvalid('the token is bound to a key');
      if (typeof payload.sub !== 'string' || payload.sub === '') throw new errors.JWTInvalid('expected a sub');
      return payload as TokenClaims;
    } catch (cause) {
      // A key that is too weak or malformed is no JOSEError, and gives no trust either.
      throw cause instanceof BaseException ? cause : invalidToken((cause as Error).message, cause);
    }
  }

  #remember(id: string, verified: Verified<T>): void {
    const [oldest] = this.#remembered.size >= mostRemembered ? this.#remembered.keys() : [];
    if (oldest !== undefined) this.#remembered.delete(oldest);
    this.#remembered.set(id, verified);
  }
}
