import type { Request, RequestHandler } from 'express';
import { documented, ForbiddenException, getRequestContext, UnauthorizedException } from '../../chassis/index.ts';
import type { AccessTokenService } from './access-token.service.ts';
import type { Caller, Role } from './auth.types.ts';

/**
 * What a route puts in front of its handler to say who may call it; in the cradle as `auth`. A guard reads the bearer
 * token of the Authorization header (RFC 6750) and sets `userId` and `roles` of the request context.
 *
 * None asks the database: the role is the one at the time the token was issued, so a withdrawn role or a deleted user
 * passes until the access token expires (AUTH_ACCESS_TOKEN_TTL_SECONDS, 15 minutes unless set otherwise).
 */
export class AuthGuard {
  readonly #accessTokens: AccessTokenService;

  constructor({ accessTokenService }: Pick<Slipway.Cradle, 'accessTokenService'>) {
    this.#accessTokens = accessTokenService;
  }

  /** Lets callers with this role through. 401 without a valid token, 403 with another role. */
  role(role: Role): RequestHandler {
    return this.#admit([401, 403], (caller) => caller.role === role);
  }

  /** Lets the user whom the path's `:id` names through, and callers with this role. 401 and 403 as `role`. */
  selfOr(role: Role): RequestHandler {
    return this.#admit([401, 403], (caller, request) => caller.role === role || caller.userId === request.params.id);
  }

  /** Lets every authenticated caller through. 401 without a valid token. */
  user(): RequestHandler {
    return this.#admit([401], () => true);
  }

  #admit(statuses: number[], may: (caller: Caller, request: Request) => boolean): RequestHandler {
    const guard: RequestHandler = async (request, _response, next) => {
      const caller = await this.#identify(request);
      if (!caller) throw unauthorized('Bearer');
      if (!may(caller, request)) throw new ForbiddenException('Your role does not allow this');
      next();
    };
    return documented(guard, { security: ['bearer'], statuses });
  }

  async #identify(request: Request): Promise<Caller | undefined> {
    const header = request.headers.authorization;
    if (header === undefined) return undefined;
    const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
    if (token === undefined) throw unauthorized('Bearer error="invalid_request"');
    const caller = await this.#accessTokens.verify(token);
    const context = getRequestContext();
    if (!context) throw new Error('Expected a request context, found none; guards run behind the request pipeline.');
    context.userId = caller.userId;
    context.roles = [caller.role];
    return caller;
  }
}

function unauthorized(challenge: string): UnauthorizedException {
  const message = 'Expected the header Authorization: Bearer <access token>';
  return new UnauthorizedException(message, undefined, { headers: { 'WWW-Authenticate': challenge } });
}
