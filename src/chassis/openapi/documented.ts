import type { RequestHandler } from 'express';

/** A security scheme of the API document (OpenAPI 3.0.0: Security Scheme Object). */
export interface SecurityScheme {
  type: 'http' | 'apiKey' | 'openIdConnect' | 'oauth2';
  description?: string;
  [field: string]: unknown;
}

/** What a handler does to a route that the route itself cannot tell, such as a guard that asks for a token. */
export interface HandlerDocs {
  /**
   * Names of security schemes, of which the caller needs one, e.g. `['bearer']`. A handler that has them is a guard, which
   * every route of a module needs; none, `[]`, are those of a guard that asks for no credentials, such as one that looks
   * at the address.
   */
  security?: readonly string[];
  /** What those names stand for, where that is not a bearer token. */
  schemes?: Readonly<Record<string, SecurityScheme>>;
  /** Scopes that the credentials need, all of them. */
  scopes?: readonly string[];
  /**
   * What else the caller needs, in a few words each, e.g. `['role admin or editor']`; `slipway routes` shows it. Default: of a
   * guard that answers 403 and asks for no scopes, the name of its function, e.g. `guard ownsBasket`.
   */
  needs?: readonly string[];
  /** Whether callers without credentials are let through too. Default: false. */
  optional?: boolean;
  /** Failure statuses that the handler answers with, e.g. `[401, 403]`. */
  statuses?: readonly number[];
  /** Parameters that the handler reads, as OpenAPI has them, e.g. a header. */
  parameters?: readonly Readonly<Record<string, unknown>>[];
}

/** A handler that carries its own OpenAPI information. */
type DocumentedHandler = RequestHandler & { readonly openapi: HandlerDocs };

/**
 * Lets a guard describe itself: every route that it stands before shows its security and its statuses.
 *
 * @example documented(requireToken, { security: ['bearer'], statuses: [401] })
 */
export function documented(handler: RequestHandler, openapi: HandlerDocs): DocumentedHandler {
  return Object.assign(handler, { openapi });
}

/** What several handlers say together: any of the security schemes, all of the scopes, statuses and parameters. */
export function docsOf(handlers: readonly unknown[]): Required<HandlerDocs> {
  const docs = handlers.map((handler) => (handler as Partial<DocumentedHandler>).openapi ?? {});
  return {
    security: [...new Set(docs.flatMap(({ security }) => security ?? []))],
    schemes: Object.assign({}, ...docs.map(({ schemes }) => schemes)),
    scopes: [...new Set(docs.flatMap(({ scopes }) => scopes ?? []))],
    needs: [...new Set(handlers.flatMap(needsOf))],
    optional: docs.every(({ security = [], optional = false }) => optional || security.length === 0),
    statuses: [...new Set(docs.flatMap(({ statuses }) => statuses ?? []))],
    parameters: docs.flatMap(({ parameters }) => parameters ?? []),
  };
}

/** What a handler asks for beside credentials and scopes; of a guard that refuses some callers and does not say which, its name. */
function needsOf(handler: unknown): readonly string[] {
  const { name, openapi = {} } = handler as { readonly name: string } & Partial<DocumentedHandler>;
  const { needs, scopes = [], statuses = [] } = openapi;
  const isUnexplained = needs === undefined && namesCallers(handler) && scopes.length === 0 && statuses.includes(403);
  return isUnexplained && name !== '' ? [`guard ${name}`] : (needs ?? []);
}

/** Whether a handler says who may call a route: a guard, or `publicAccess`. */
export function namesCallers(handler: unknown): boolean {
  return (handler as Partial<DocumentedHandler>).openapi?.security !== undefined;
}

/** Whether a handler decides by who the caller is, not by what it sends: it says that it asks for credentials. */
export function isGuard(handler: unknown): boolean {
  return ((handler as Partial<DocumentedHandler>).openapi?.security ?? []).length > 0;
}
