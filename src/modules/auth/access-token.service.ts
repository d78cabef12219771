import { createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import { type JWSHeaderParameters, SignJWT } from 'jose';
import { findSigningKey, publicKeys, type SigningKey, TokenVerifier } from 'slipway';
import type { Caller } from './auth.types.ts';

const sharedSecret = 'HS256';
const type = 'at+jwt';
const clockToleranceSeconds = 5;

/**
 * Issues and verifies access tokens, told apart from other JWTs by their type (RFC 9068). They are signed with the first
 * of AUTH_SIGNING_KEYS, whose public halves let other services verify them; without any, with AUTH_JWT_SECRET.
 */
export class AccessTokenService {
  /** Life of an access token in seconds. */
  readonly lifetime: number;
  readonly #secret: KeyObject;
  readonly #keys: readonly SigningKey[];
  /** Until when tokens of AUTH_JWT_SECRET are taken: those of before there were keys live on until they expire. */
  readonly #secretUntil: number;
  readonly #issuer: string;
  readonly #audience: string | string[];
  readonly #verifier: TokenVerifier<Caller | undefined>;

  constructor({ settings }: Pick<Slipway.Cradle, 'settings'>) {
    const { AUTH_SIGNING_KEYS: keys = [], AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = settings;
    this.lifetime = settings.AUTH_ACCESS_TOKEN_TTL_SECONDS;
    this.#secret = createSecretKey(settings.AUTH_JWT_SECRET, 'utf8');
    this.#keys = keys;
    const lastSeconds = this.lifetime + clockToleranceSeconds;
    this.#secretUntil = keys.length === 0 ? Number.POSITIVE_INFINITY : Date.now() + lastSeconds * 1000;
    this.#issuer = issuer;
    this.#audience = audience.length === 1 ? (audience[0] as string) : audience;
    const rules = {
      ...{ issuer, audience, clockToleranceSeconds, types: [type] },
      algorithms: [sharedSecret, ...keys.map(({ algorithm }) => algorithm)],
      requiredClaims: ['sid', 'role', 'iat', 'jti'],
    };
    const find = async (header: JWSHeaderParameters) => this.#keyOf(header);
    this.#verifier = new TokenVerifier({ find, version: () => 0 }, rules, callerOf);
  }

  /** The public keys of tokens, as other services ask for them (RFC 7517); none where AUTH_JWT_SECRET signs. */
  get publicKeys(): object {
    return publicKeys(this.#keys);
  }

  /** The issuer of tokens, to tell them from those of others. */
  get issuer(): string {
    return this.#issuer;
  }

  /** A new access token of this caller. `role` is for services of before `roles`, which a rollout runs beside this one. */
  issue({ userId, role, sessionId, tenantId, authenticatedAt }: Caller): Promise<string> {
    const [key] = this.#keys;
    const header = key ? { alg: key.algorithm, kid: key.id, typ: type } : { alg: sharedSecret, typ: type };
    const moment = authenticatedAt && { auth_time: Math.floor(authenticatedAt.getTime() / 1000) };
    return new SignJWT({ role, roles: [role], sid: sessionId, tenant: tenantId, ...moment })
      .setProtectedHeader(header)
      .setIssuer(this.#issuer)
      .setAudience(this.#audience)
      .setSubject(userId)
      .setIssuedAt()
      .setExpirationTime(`${this.lifetime} s`)
      .setJti(randomUUID())
      .sign(key?.privateKey ?? this.#secret);
  }

  /** The caller that the token names. @throws UnauthorizedException when it is not valid, the same one for every cause */
  verify(token: string): Promise<Caller> {
    return this.#verifier.verify(token);
  }

  #keyOf(header: JWSHeaderParameters): KeyObject {
    if (header.alg !== sharedSecret) return findSigningKey(this.#keys, header);
    if (Date.now() < this.#secretUntil) return this.#secret;
    throw new Error('tokens of AUTH_JWT_SECRET have expired since there are AUTH_SIGNING_KEYS');
  }
}

/** Undefined where a claim is of another type, which whoever else signs with the key may take for the same. */
function callerOf(claims: Record<string, unknown>): Caller | undefined {
  const { sub: userId, role, sid: sessionId, tenant: tenantId = userId, auth_time: moment } = claims;
  if (![role, sessionId, tenantId].every((claim) => typeof claim === 'string')) return undefined;
  const authenticatedAt = typeof moment === 'number' && { authenticatedAt: new Date(moment * 1000) };
  return { ...{ userId, role, sessionId, tenantId }, ...authenticatedAt } as Caller;
}
