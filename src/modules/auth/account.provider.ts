import type { Request } from 'express';
import {
  bearerSchemes,
  bearerToken,
  claimCaller,
  claimedIssuer,
  type IdentityDemand,
  type IdentityProvider,
  type Principal,
} from 'slipway';
import type { Caller } from './auth.types.ts';
import { tenantOf } from './caller.context.ts';
import { sessionEnded } from './session.service.ts';

type Dependencies = Pick<Slipway.Cradle, 'accessTokenService' | 'sessionService'>;

const reads: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const noScopes: ReadonlySet<string> = new Set();

/**
 * The accounts of this service as a way to show who calls: the access tokens that it issues itself.
 *
 * Requests that write, and all of those whose token names more than a user, ask the database: the session must be alive
 * and role and tenant are those of now. A user's read goes by the token alone, until it expires
 * (AUTH_ACCESS_TOKEN_TTL_SECONDS, 15 minutes unless set otherwise).
 */
export class AccountProvider implements IdentityProvider {
  readonly schemes = bearerSchemes;
  readonly #accessTokens: Dependencies['accessTokenService'];
  readonly #sessions: Dependencies['sessionService'];

  constructor({ accessTokenService, sessionService }: Dependencies) {
    this.#accessTokens = accessTokenService;
    this.#sessions = sessionService;
  }

  /** The account whose token the request has. @throws UnauthorizedException when the token is invalid or its session has ended */
  async identify(request: Request, { fresh }: IdentityDemand): Promise<Principal | undefined> {
    const token = bearerToken(request);
    if (token === undefined || claimedIssuer(token) !== this.#accessTokens.issuer) return undefined;
    const claimed = await this.#accessTokens.verify(token);
    const isAsked = fresh || !reads.has(request.method) || claimed.role !== 'user';
    const { role, ...caller } = isAsked ? await this.#current(claimed) : claimed;
    return { ...caller, roles: new Set([role]), scopes: noScopes, via: 'login' };
  }

  async #current(claimed: Caller): Promise<Caller> {
    claimCaller(claimed.userId);
    const session = await this.#sessions.findAlive(claimed);
    if (!session) throw sessionEnded();
    const { user, authenticatedAt } = session;
    return { ...claimed, authenticatedAt, role: user.role, tenantId: tenantOf({ ...user, id: claimed.userId }) };
  }
}
