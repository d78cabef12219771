/** What the chassis itself knows of a caller. */
interface ChassisPrincipal {
  /** Identifier of the user, or of the service or API key that calls by itself. */
  readonly userId: string;
  /** What the caller is, e.g. `admin`. */
  readonly roles: ReadonlySet<string>;
  /** What the caller's credentials allow, e.g. `orders:read` (RFC 6749, section 3.3). */
  readonly scopes: ReadonlySet<string>;
  /** The tenant that the caller belongs to; undefined in a service without tenants. */
  readonly tenantId?: string | undefined;
  /** When the user last gave a password or another proof, by `auth_time` of the token; undefined where nobody says. */
  readonly authenticatedAt?: Date | undefined;
  /**
   * How the caller has shown who it is: by a login at the service itself, which scopes do not limit, by an access token, or
   * by an API key, which can do nothing but what its scopes name. Undefined counts as a token.
   */
  readonly via?: 'login' | 'token' | 'key' | undefined;
}

declare global {
  namespace Slipway {
    /** A module adds fields of its own here, as it adds dependencies to `Cradle`. */
    interface Principal extends ChassisPrincipal {}
  }
}

/** Who acts: the caller that a guard has authenticated, or the principal that `runAs` names. */
export type Principal = Slipway.Principal;

/** What an answer to a caller depends on, as a text. */
export function rightsOf(principal: Principal | undefined): string {
  const { userId, tenantId, roles = [], scopes = [] } = principal ?? {};
  return JSON.stringify([userId, tenantId, [...roles].sort(), [...scopes].sort()]);
}

/** What work does beside its request: it acts as somebody else, or beyond the scope of rows. */
export interface Acting {
  readonly principal: Principal | undefined;
  /** Why no row scope applies; undefined where they apply. */
  readonly unscopedReason: string | undefined;
}
