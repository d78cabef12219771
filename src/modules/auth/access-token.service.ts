import { createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import { errors, type JWTVerifyOptions, jwtVerify, SignJWT } from 'jose';
import { UnauthorizedException } from 'slipway';
import type { Caller, Role } from './auth.types.ts';

const algorithm = 'HS256';
const type = 'at+jwt';

/** Issues and verifies access tokens: JWTs signed with HS256, told apart from other JWTs by their type (RFC 9068). */
export class AccessTokenService {
  /** Life of an access token in seconds. */
  readonly lifetime: number;
  readonly #key: KeyObject;
  readonly #issuer: string;
  readonly #audience: string | string[];
  readonly #verification: JWTVerifyOptions;

  constructor({ settings }: Pick<Slipway.Cradle, 'settings'>) {
    this.lifetime = settings.AUTH_ACCESS_TOKEN_TTL_SECONDS;
    this.#key = createSecretKey(settings.AUTH_JWT_SECRET, 'utf8');
    this.#issuer = settings.AUTH_ISSUER;
    const [audience = '', ...others] = settings.AUTH_AUDIENCE;
    this.#audience = others.length > 0 ? settings.AUTH_AUDIENCE : audience;
    this.#verification = {
      algorithms: [algorithm],
      typ: type,
      issuer: this.#issuer,
      audience: this.#audience,
      clockTolerance: 5,
      requiredClaims: ['sub', 'sid', 'role', 'iat', 'exp', 'jti'],
    };
  }

  /** A new access token of this caller. */
  issue({ userId, role, sessionId, tenantId }: Caller): Promise<string> {
    return new SignJWT({ role, sid: sessionId, tenant: tenantId })
      .setProtectedHeader({ alg: algorithm, typ: type })
      .setIssuer(this.#issuer)
      .setAudience(this.#audience)
      .setSubject(userId)
      .setIssuedAt()
      .setExpirationTime(`${this.lifetime} s`)
      .setJti(randomUUID())
      .sign(this.#key);
  }

  /** The caller that the token names. @throws UnauthorizedException when it is not valid, the same one for every cause */
  async verify(token: string): Promise<Caller> {
    try {
      const { payload } = await jwtVerify<{ role: Role; sid: string; tenant?: string }>(
        token,
        this.#key,
        this.#verification,
      );
      const { sub: userId = '', role, sid: sessionId, tenant: tenantId = userId } = payload;
      return { userId, role, sessionId, tenantId };
    } catch (cause) {
      if (!(cause instanceof errors.JOSEError)) throw cause;
      throw new UnauthorizedException(
        'The access token is invalid or has expired; log in or refresh to get a new one',
        undefined,
        {
          cause,
          headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
        },
      );
    }
  }
}
