import { isUrlOf } from '../config/settings/setting-types.ts';
import { currentService } from '../context/current-service.ts';
import type { Principal } from '../context/principal.ts';
import { bearerSchemes, bearerToken, claimedIssuer } from './bearer-token.ts';
import { type StandardClaims, standardPrincipal } from './claims.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { IssuerDocument } from './issuer-document.ts';
import { RemoteKeys } from './remote-keys.ts';
import { type TokenClaims, TokenVerifier } from './token-verifier.ts';

/** How the access tokens of an issuer are accepted. */
export interface BearerOptions {
  /** Prefix of the settings, those of `issuerSettings(prefix)`. Default `AUTH`, whose settings each service has. */
  settings?: string;
  /**
   * The caller that verified claims name, once for each token; undefined refuses it.
   *
   * @param standard the principal by the settings: `sub`, `<prefix>_ROLES_CLAIM`, `scope` or `scp`, `<prefix>_TENANT_CLAIM`
   */
  principal?: (claims: TokenClaims, standard: Principal) => Principal | undefined;
}

/** The settings by their names without the prefix. */
interface IssuerSettings extends StandardClaims {
  issuer: string;
  audience: string[];
  jwksUrl: string | undefined;
  algorithms: string[];
  type: string | undefined;
  clockToleranceSeconds: number;
  refreshMs: number;
  staleMs: number;
}

/** `JWT` is what most providers write, at+jwt is RFC 9068. Others are of tokens that are not for access. */
const accessTokenTypes = ['at+jwt', 'jwt', ''];

/**
 * Accepts the access tokens of an issuer: JWTs (RFC 9068) in `Authorization: Bearer …`, verified with the keys of its JWKS
 * document. Signature by an asymmetric algorithm, `iss`, `aud`, `exp`, `nbf`, `typ` and `sub` are checked. To be called
 * where guards are made, not at import.
 *
 * @throws Error where the settings do not say where the keys are
 * @example guards(() => bearer(), { roles: ['admin', 'user'] })
 */
export function bearer({ settings: prefix = 'AUTH', principal }: BearerOptions = {}): IdentityProvider {
  const { closers, logger, metrics, settings } = currentService();
  const own = settingsOf(prefix, settings as unknown as Record<string, unknown>);
  const document = new IssuerDocument(own, prefix.toLowerCase().replaceAll('_', '-'), {
    logger,
    metrics: metrics.outbound,
  });
  closers.add(`connections to ${own.issuer}`, () => document.close());
  const keys = new RemoteKeys(() => document.keys(), own, logger);
  const { issuer, audience, algorithms, clockToleranceSeconds, type } = own;
  const rules = { issuer, audience, algorithms, clockToleranceSeconds, types: type ? [type] : accessTokenTypes };
  const verifier = new TokenVerifier(keys, rules, (claims) => {
    const standard = standardPrincipal(claims, own);
    return principal ? principal(claims, standard) : standard;
  });
  // The first request need not wait for them.
  void keys.refresh();
  return {
    schemes: bearerSchemes,
    identify(request) {
      const token = bearerToken(request);
      return token !== undefined && claimedIssuer(token) === issuer ? verifier.verify(token) : undefined;
    },
  };
}

function settingsOf(prefix: string, settings: Readonly<Record<string, unknown>>): IssuerSettings {
  const of = <T>(name: string) => settings[`${prefix}_${name}`] as T;
  const [issuer, jwksUrl] = [of<string | undefined>('ISSUER'), of<string | undefined>('JWKS_URL')];
  const audience = of<string[] | undefined>('AUDIENCE');
  if (issuer === undefined || audience === undefined || (jwksUrl === undefined && !isUrlOf(issuer, 'http', 'https'))) {
    throw new Error(
      `Expected of bearer() ${prefix}_ISSUER with ${prefix}_AUDIENCE, and the URL of a provider in it or ${prefix}_JWKS_URL, ` +
        `found ${JSON.stringify({ issuer, audience, jwksUrl })}; set them` +
        `${prefix === 'AUTH' ? '' : `, and add ...issuerSettings('${prefix}') to the module's *.config.ts`}.`,
    );
  }
  return {
    ...{ issuer, audience, jwksUrl, algorithms: of('ALGORITHMS'), type: normalType(of('TOKEN_TYPE')) },
    ...{ rolesClaim: of('ROLES_CLAIM'), tenantClaim: of('TENANT_CLAIM') },
    clockToleranceSeconds: of('CLOCK_TOLERANCE_SECONDS'),
    refreshMs: of<number>('JWKS_REFRESH_SECONDS') * 1000,
    staleMs: of<number>('JWKS_STALE_SECONDS') * 1000,
  };
}

function normalType(type: string | undefined): string | undefined {
  return type?.toLowerCase().replace(/^application\//, '');
}
