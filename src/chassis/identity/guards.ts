import { asFunction, type BuildResolver } from 'awilix/browser';
import type { Request, RequestHandler } from 'express';
import type { Environment } from '../config/environment.ts';
import { type Principal, rightsOf } from '../context/principal.ts';
import { getRequestContext, setPrincipal } from '../context/request-context.ts';
import { ForbiddenException, UnauthorizedException } from '../errors/exceptions.ts';
import { nearMisses } from '../errors/near-misses.ts';
import { documented } from '../openapi/documented.ts';
import { bearerToken, invalidToken } from './bearer-token.ts';
import type { CredentialScheme, IdentityDemand, IdentityProvider } from './identity-provider.ts';

/** The roles and scopes that a service knows. A guard that names another one is a type error, and stops the start. */
export interface IdentityNames<Role extends string, Scope extends string> {
  roles?: readonly Role[];
  scopes?: readonly Scope[];
}

/** What a guard may ask for beside who calls. */
export interface GuardOptions<Scope extends string> {
  /** Scopes that the credentials need, all of them; a login at the service itself is not limited by scopes. */
  scope?: Scope | readonly Scope[];
  /**
   * How long ago the caller may have shown its credentials, in seconds, by `auth_time` of a token or the login at the service
   * itself. Who did so earlier, or at a moment that nobody knows, gets 401 and logs in again (RFC 9470). Default: ever.
   */
  maxAgeSeconds?: number;
}

/** A controller that knows the columns of the record that a path names; every `ResourceController`. */
interface OwnedResource<Column extends string> {
  columnOf(request: Request, column: Column): Promise<unknown>;
}

interface Rule<Scope extends string> extends GuardOptions<Scope> {
  statuses: number[];
  /** What it asks for beside who calls, scopes and a recent login, for people. */
  needs?: string;
  fresh?: boolean;
  /** Whether callers without credentials are let through. */
  optional?: boolean;
  may?: (principal: Principal, request: Request) => boolean | Promise<boolean>;
  /** What a caller is told who may not. */
  refusal?: string;
}

/**
 * What a route puts in front of its handler to say who may call it; in the cradle as `auth`. Each guard asks the provider
 * who calls, sets the principal of the request, and answers 401 where nobody can be told, 403 where the caller may not.
 *
 * API keys pass guards that name a scope which the key has, and no others: what a route does not say is closed to them.
 */
export class Guards<Role extends string = string, Scope extends string = string> {
  readonly #provider: IdentityProvider;
  readonly #names: IdentityNames<Role, Scope>;

  /** @param names roles and scopes that guards may name. Default: any */
  constructor(provider: IdentityProvider, names: IdentityNames<Role, Scope> = {}) {
    this.#provider = provider;
    this.#names = names;
  }

  /** Lets every authenticated caller through. */
  user(options: GuardOptions<Scope> = {}): RequestHandler {
    return this.#guard({ ...options, statuses: [401] });
  }

  /**
   * Lets everybody through, as the caller whose credentials the request brings, if any: for public routes that show more to
   * who is known. Invalid credentials are refused all the same.
   */
  optional(options: GuardOptions<Scope> = {}): RequestHandler {
    return this.#guard({ ...options, statuses: [401], optional: true });
  }

  /** Lets callers with one of these roles through. */
  role(role: Role | readonly Role[], options: GuardOptions<Scope> = {}): RequestHandler {
    const roles = this.#known('role', role, this.#names.roles);
    const may = (principal: Principal) => hasOne(principal, roles);
    return this.#guard({ ...options, statuses: [401, 403], needs: roleText(roles), may });
  }

  /** Lets callers through whose credentials have all these scopes. */
  scope(scope: Scope | readonly Scope[]): RequestHandler {
    return this.#guard({ scope, statuses: [401, 403] });
  }

  /** Lets callers with this role through, and the user with the path's `:id`. */
  selfOr(role: Role | readonly Role[], options: GuardOptions<Scope> = {}): RequestHandler {
    const roles = this.#known('role', role, this.#names.roles);
    const may = (principal: Principal, { params }: Request) =>
      principal.userId === params['id'] || hasOne(principal, roles);
    return this.#guard({ ...options, statuses: [401, 403], needs: `self or ${roleText(roles)}`, may });
  }

  /**
   * Lets the owner of the record with the path's `:id` through: the caller whose id is in this column. A record that the
   * row scope hides is a 404.
   *
   * @param controller that of the resource
   * @param options.or roles that are let through to all records that they see
   * @example resourceRouter('/notes', noteController, { read: auth.user(), create: auth.user(), update: auth.owns(noteController, 'authorId', { or: 'admin' }) })
   */
  owns<Column extends string>(
    controller: OwnedResource<Column>,
    column: NoInfer<Column>,
    { or, ...options }: GuardOptions<Scope> & { or?: Role | readonly Role[] } = {},
  ): RequestHandler {
    const roles = or === undefined ? [] : this.#known('role', or, this.#names.roles);
    const may = async (principal: Principal, request: Request) =>
      hasOne(principal, roles) || (await controller.columnOf(request, column)) === principal.userId;
    const needs = [`owner by ${column}`, ...(roles.length > 0 ? [roleText(roles)] : [])].join(' or ');
    const refusal = 'This belongs to another user';
    return this.#guard({ ...options, statuses: [401, 403, 404], needs, may, refusal });
  }

  /** Lets callers through who have logged in at this service and whose session is alive, for reads too. */
  session(): RequestHandler {
    const refusal = 'This needs a login at the service itself';
    const may = ({ via }: Principal) => via === 'login';
    return this.#guard({ statuses: [401, 403], needs: 'login at this service', fresh: true, may, refusal });
  }

  #guard(rule: Rule<Scope>): RequestHandler {
    const { statuses, scope = [], optional = false, may, refusal, maxAgeSeconds } = rule;
    const scopes = this.#known('scope', scope, this.#names.scopes);
    const all = Object.entries(this.#provider.schemes);
    const unlimited = all.filter(([, { limited }]) => !limited);
    const schemes = scopes.length > 0 || unlimited.length === 0 ? all : unlimited;
    const unauthorized = refusalOf(schemes.map(([, scheme]) => scheme));
    // What a token said of a login may have been confirmed since.
    const demand = { fresh: rule.fresh === true || maxAgeSeconds !== undefined };
    const admit = async (request: Request, asked: IdentityDemand): Promise<void> => {
      const assumed = getRequestContext()?.assumedPrincipal;
      const principal = assumed ?? (await this.#provider.identify(request, asked));
      if (!principal && optional && request.headers.authorization === undefined) return;
      if (!principal) throw unauthorized(request);
      setPrincipal(principal);
      refuseScope(principal, scopes);
      if (maxAgeSeconds !== undefined) refuseAge(principal, maxAgeSeconds);
      if (may && !(await may(principal, request)))
        throw new ForbiddenException(refusal ?? 'Your role does not allow this');
    };
    const guard: RequestHandler = async (request, response, next) => {
      await admit(request, demand);
      addRecheck(() => admit(request, { fresh: true }));
      // Caches know that `Authorization` makes an answer private, and not that an API key does (RFC 9111, 3.5).
      if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'private, no-cache');
      next();
    };
    return documented(guard, {
      security: schemes.map(([name]) => name),
      schemes: Object.fromEntries(schemes.map(([name, { document }]) => [name, document])),
      scopes,
      needs: needsOf(rule),
      optional,
      statuses: scopes.length > 0 ? [...new Set([...statuses, 403])] : statuses,
    });
  }

  #known<Name extends string>(
    kind: 'role' | 'scope',
    named: Name | readonly Name[],
    known?: readonly Name[],
  ): readonly Name[] {
    const names: readonly Name[] = typeof named === 'string' ? [named] : named;
    const unknown = names.find((name) => known !== undefined && !known.includes(name));
    if (unknown === undefined) return names;
    const [near] = nearMisses(unknown, known ?? []);
    throw new Error(
      `Expected a ${kind} of ${(known ?? []).join(', ') || 'none'}, found '${unknown}'` +
        (near === undefined ? '; declare it where the guards are made.' : `; was '${near}' meant?`),
    );
  }
}

/**
 * Registers guards as a dependency, in a module without a class of its own for them.
 *
 * @param make makes the provider of the settings, once for each service
 * @example const dependencies = { auth: guards(() => bearer(), { roles: ['admin', 'user'], scopes: ['orders:read'] }) };
 */
export function guards<const Role extends string = string, const Scope extends string = string>(
  make: (settings: Environment) => IdentityProvider,
  names: IdentityNames<Role, Scope> = {},
): BuildResolver<Guards<Role, Scope>> {
  return asFunction(
    ({ settings }: { settings: Environment }) => new Guards<Role, Scope>(make(settings), names),
  ).singleton();
}

/** What a request is refused with whose credentials no provider knows: none at all, of another form, or of another issuer. */
function refusalOf(schemes: readonly CredentialScheme[]): (request: Request) => UnauthorizedException {
  const challenge = [...new Set(schemes.map((scheme) => scheme.challenge))].join(', ');
  const message = `Expected ${[...new Set(schemes.map(({ expects }) => expects))].join(' or ')}`;
  const malformed = challenge.replace(/^Bearer\b/, 'Bearer error="invalid_request"');
  return (request) => {
    const isSent = request.headers.authorization !== undefined;
    if (isSent && bearerToken(request) !== undefined) return invalidToken('of no known issuer');
    const headers = { 'WWW-Authenticate': isSent ? malformed : challenge };
    return new UnauthorizedException(message, undefined, { headers });
  };
}

/** What a guard asks for beside who calls and scopes, for people. */
function needsOf({ needs, maxAgeSeconds }: Rule<string>): string[] {
  const recent = maxAgeSeconds === undefined ? [] : [`login within ${maxAgeSeconds} s`];
  return [...(needs === undefined ? [] : [needs]), ...recent];
}

function roleText(roles: readonly string[]): string {
  return `role ${roles.join(' or ')}`;
}

/** Has a long answer ask this guard again too; who is another by then, or has other rights, gets no more of it. */
function addRecheck(admit: () => Promise<void>): void {
  const context = getRequestContext();
  if (!context) return;
  const { principal, recheck: before } = context;
  context.recheck = async () => {
    await before?.();
    await admit();
    if (rightsOf(context.principal) !== rightsOf(principal)) throw new ForbiddenException('Your rights have changed');
  };
}

function hasOne({ roles }: Principal, wanted: readonly string[]): boolean {
  return wanted.some((role) => roles.has(role));
}

/** @throws UnauthorizedException (RFC 9470) */
function refuseAge({ authenticatedAt }: Principal, maxAgeSeconds: number): void {
  if (authenticatedAt && Date.now() - authenticatedAt.getTime() <= maxAgeSeconds * 1000) return;
  const challenge = `Bearer error="insufficient_user_authentication", max_age="${maxAgeSeconds}"`;
  throw new UnauthorizedException('This needs a more recent login; log in again', undefined, {
    headers: { 'WWW-Authenticate': challenge },
  });
}

/** @throws ForbiddenException (RFC 6750, 3.1) */
function refuseScope({ scopes, via }: Principal, wanted: readonly string[]): void {
  if (via === 'login') return;
  if (wanted.length === 0 && via === 'key') throw new ForbiddenException('An API key cannot do this');
  const missing = wanted.filter((scope) => !scopes.has(scope));
  if (missing.length === 0) return;
  const challenge = `${via === 'key' ? 'ApiKey' : 'Bearer'} error="insufficient_scope", scope="${wanted.join(' ')}"`;
  throw new ForbiddenException(`This needs the scope ${missing.join(' and ')}`, undefined, {
    headers: { 'WWW-Authenticate': challenge },
  });
}
