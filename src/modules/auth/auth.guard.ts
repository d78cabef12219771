import type { Request, RequestHandler } from 'express';
import { documented, ForbiddenException, setPrincipal, UnauthorizedException } from 'slipway';
import type { Caller, Role } from './auth.types.ts';
import { tenantOf } from './caller.context.ts';

type Dependencies = Pick<Slipway.Cradle, 'accessTokenService' | 'sessionService'>;

const reads: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * What a route puts in front of its handler to say who may call it; in the cradle as `auth`. A guard reads the bearer
 * token of the Authorization header (RFC 6750) and sets the principal of the request.
 *
 * Requests that write, and all of those whose token names more than a user, ask the database: the session must be alive
 * and role and tenant are those of now. A user's read goes by the token alone, until it expires
 * (AUTH_ACCESS_TOKEN_TTL_SECONDS, 15 minutes unless set otherwise).
 */
export class AuthGuard {
  readonly #accessTokens: Dependencies['accessTokenService'];
  readonly #sessions: Dependencies['sessionService'];

  constructor({ accessTokenService, sessionService }: Dependencies) {
    this.#accessTokens = accessTokenService;
    this.#sessions = sessionService;
  }

  /** Lets callers with this role through. 401 without a valid token, 403 with another role. */
  role(role: Role): RequestHandler {
    return this.#admit([401, 403], (caller) => caller.role === role);
  }

  /** Lets callers with this role through, and the user with the path's `:id`. 401 and 403 as `role`. */
  selfOr(role: Role): RequestHandler {
    return this.#admit([401, 403], (caller, request) => caller.role === role || caller.userId === request.params.id);
  }

  /** Lets every authenticated caller through. 401 without a valid token. */
  user(): RequestHandler {
    return this.#admit([401], () => true);
  }

  /** Lets every caller through whose session is alive, for reads too. 401 without a valid token. */
  session(): RequestHandler {
    return this.#admit([401], () => true, true);
  }

  #admit(statuses: number[], may: (caller: Caller, request: Request) => boolean, always = false): RequestHandler {
    const guard: RequestHandler = async (request, _response, next) => {
      const caller = await this.#identify(request, always || !reads.has(request.method));
      if (!may(caller, request)) throw new ForbiddenException('Your role does not allow this');
      next();
    };
    return documented(guard, { security: ['bearer'], statuses });
  }

  async #identify(request: Request, ask: boolean): Promise<Caller> {
    const claimed = await this.#accessTokens.verify(bearerToken(request));
    const caller = ask || claimed.role !== 'user' ? await this.#current(claimed) : claimed;
    const { userId, sessionId, role, tenantId } = caller;
    setPrincipal({ userId, tenantId, sessionId, roles: new Set([role]), scopes: new Set() });
    return caller;
  }

  async #current(claimed: Caller): Promise<Caller> {
    const session = await this.#sessions.findAlive(claimed);
    if (!session) {
      const headers = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };
      throw new UnauthorizedException('The session has ended; log in again', undefined, { headers });
    }
    return { ...claimed, role: session.user.role, tenantId: tenantOf({ ...session.user, id: claimed.userId }) };
  }
}

function bearerToken({ headers: { authorization } }: Request): string {
  if (authorization === undefined) throw unauthorized('Bearer');
  const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized('Bearer error="invalid_request"');
  return token;
}

function unauthorized(challenge: string): UnauthorizedException {
  const message = 'Expected the header Authorization: Bearer <access token>';
  return new UnauthorizedException(message, undefined, { headers: { 'WWW-Authenticate': challenge } });
}
