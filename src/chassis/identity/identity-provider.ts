import type { Request } from 'express';
import type { Principal } from '../context/principal.ts';
import type { SecurityScheme } from '../openapi/documented.ts';

/** What a guard asks of a provider beside who calls. */
export interface IdentityDemand {
  /** Whether the answer has to hold now: what a token said when it was issued is not enough. */
  readonly fresh: boolean;
}

/** Credentials of one kind. */
export interface CredentialScheme {
  /** As the API document shows them. */
  readonly document: SecurityScheme;
  /** What a client may send, for the message of a 401, such as `the header X-API-Key: <API key>`. */
  readonly expects: string;
  /** What WWW-Authenticate says to a request without credentials, such as `Bearer`. */
  readonly challenge: string;
  /** Whether they pass only guards that name a scope. Default: false. */
  readonly limited?: boolean;
}

/** One way to show who calls: access tokens of an issuer, API keys, the service's own accounts. */
export interface IdentityProvider {
  /** Its credentials, by the name of their security scheme in the API document. */
  readonly schemes: Readonly<Record<string, CredentialScheme>>;
  /**
   * The caller that the credentials of the request name; undefined where it has none that this provider knows.
   *
   * @throws UnauthorizedException for invalid credentials, ServiceUnavailableException while they cannot be verified
   */
  identify(request: Request, demand: IdentityDemand): Principal | undefined | Promise<Principal | undefined>;
}

/**
 * Accepts credentials of any of these providers. The first one that knows those of a request decides: an invalid
 * token is refused, whatever else the request brings.
 *
 * @example either(bearer(), apiKeys)
 */
export function either(...providers: readonly IdentityProvider[]): IdentityProvider {
  return {
    schemes: Object.assign({}, ...providers.map(({ schemes }) => schemes)),
    async identify(request, demand) {
      for (const provider of providers) {
        const principal = await provider.identify(request, demand);
        if (principal) return principal;
      }
      return undefined;
    },
  };
}
