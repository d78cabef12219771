import { type IncomingMessage, type OutgoingHttpHeaders, type ServerOptions, ServerResponse } from 'node:http';
import cors from 'cors';
import type { Express, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { ServerConfig } from '../../config/app-config.ts';
import type { Environment } from '../../config/environment.ts';
import { BaseException } from '../../errors/exceptions.ts';

/** Names in lower case and values in turn, as `writeHead` and `rawHeaders` have them. */
export type HeaderList = readonly string[];

/** What of the headers of a service depends on its settings. */
interface AnswerHeaderOptions {
  /** Origins that may call from a browser, `*` among them for any; undefined leaves the headers out. */
  origins?: readonly string[] | undefined;
  /** Helmet's security headers. */
  security?: boolean;
  /** Other headers that every answer carries. */
  others?: Readonly<Record<string, string>>;
}

/**
 * The headers of every answer of a service, from whichever part: the pipeline, a refusal for overload, or the
 * answer to bytes that are no request. They are computed once, at start, for each origin that may call from a browser,
 * and for all other requests together.
 */
export class AnswerHeaders {
  readonly #byOrigin: ReadonlyMap<string, KnownHeaders>;
  readonly #others: KnownHeaders;

  constructor({ origins, security = false, others = {} }: AnswerHeaderOptions) {
    const constant: RequestHandler[] = [setHeaders(others)];
    if (security) constant.unshift(helmet() as RequestHandler);
    if (origins) constant.unshift(crossOriginMiddleware(origins));
    const named = origins?.includes('*') ? [] : (origins ?? []).map(normalizeOrigin);
    this.#byOrigin = new Map(named.map((origin) => [origin, known(constant, { origin })]));
    this.#others = known(constant, {});
  }

  /** The headers of an answer to a request of this origin, or of none. */
  of(origin: string | undefined): KnownHeaders {
    return origin === undefined ? this.#others : (this.#byOrigin.get(origin) ?? this.#others);
  }

  /** Sets them on an answer that has others, such as its request id, but none of these yet. */
  apply(res: ServerResponse): void {
    const known = this.of(res.req.headers.origin);
    if (carriedKey in res) res[carriedKey] = known;
    else setAll(res, known);
  }
}

/** Headers as Node takes them, by name, and as they stand in an answer. */
export interface KnownHeaders {
  readonly list: HeaderList;
  readonly values: ReadonlyMap<string, string>;
  readonly lines: string;
}

function setAll(res: ServerResponse, { values }: KnownHeaders): void {
  for (const [name, value] of values) res.setHeader(name, value);
}

const carriedKey = Symbol('headers that a response carries');

type Carrying = ServerResponse & { [carriedKey]?: KnownHeaders | undefined };

/** One of those that a response carries may be about to change. */
function change(res: Carrying, name: string): void {
  const carried = res[carriedKey];
  if (carried?.values.has(name.toLowerCase()) !== true) return;
  res[carriedKey] = undefined;
  setAll(res, carried);
}

/** Node's step from the first line of an answer to its head. It is no public one, so the headers are set where it is missing. */
const { _storeHeader: storeHead } = ServerResponse.prototype as { _storeHeader?: (line: string, own: unknown) => void };

/**
 * The requests and responses of an app's server, for `createServer`. They are born with the prototypes that Express would
 * give them, because V8 forgets what it knows of an object whose prototype changes, and what all answers carry is one text:
 * both together save an eighth of what a small request costs. A handler sees and changes those headers as any others.
 *
 * @param AppRequest the class of the requests, which no other app has; it is given the prototype of this one's
 */
export function messagesOf(
  app: Express,
  AppRequest: typeof IncomingMessage,
): Required<Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>> {
  class AppResponse extends ServerResponse {
    declare [carriedKey]: KnownHeaders | undefined;

    override setHeader(name: string, value: number | string | readonly string[]): this {
      change(this, name);
      return super.setHeader(name, value);
    }

    override appendHeader(name: string, value: string | readonly string[]): this {
      change(this, name);
      return super.appendHeader(name, value);
    }

    override removeHeader(name: string): void {
      change(this, name);
      super.removeHeader(name);
    }

    override getHeader(name: string): number | string | string[] | undefined {
      return super.getHeader(name) ?? this[carriedKey]?.values.get(name.toLowerCase());
    }

    override hasHeader(name: string): boolean {
      return super.hasHeader(name) || this[carriedKey]?.values.has(name.toLowerCase()) === true;
    }

    override getHeaders(): OutgoingHttpHeaders {
      return Object.assign(Object.create(null), Object.fromEntries(this[carriedKey]?.values ?? []), super.getHeaders());
    }

    override getHeaderNames(): string[] {
      return [...(this[carriedKey]?.values.keys() ?? []), ...super.getHeaderNames()];
    }

    _storeHeader(line: string, own: unknown): void {
      const carried = this[carriedKey];
      storeHead?.call(this, carried === undefined ? line : line + carried.lines, own);
    }
  }

  if (storeHead) AppResponse.prototype[carriedKey] = undefined;
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse as typeof ServerResponse };
}

/** Headers as they stand in an answer, a line for each. */
export function headerLines(list: HeaderList): string {
  return list.map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n')).join('');
}

/** What an app without settings answers with. */
export const noAnswerHeaders = new AnswerHeaders({});

type Settings = Pick<Environment, 'CORS_ORIGINS'>;

/**
 * The headers of every answer of the public port, by the settings (spec.md: Loaders, HTTP configuration). What is added
 * here is on all of them.
 */
export function answerHeaders(settings: Settings, config: Partial<ServerConfig>): AnswerHeaders {
  const { enableCors = true, enableSecurityHeaders = true, enableCompression = true } = config;
  return new AnswerHeaders({
    origins: enableCors ? settings.CORS_ORIGINS : undefined,
    security: enableSecurityHeaders,
    // A cache must know that other clients get other bytes.
    others: enableCompression ? { vary: 'Accept-Encoding' } : {},
  });
}

const byApp = new WeakMap<object, AnswerHeaders>();

/** Has all answers to requests of an app, those that never reach it too, carry these headers. */
export function useAnswerHeaders(app: object, headers: AnswerHeaders): void {
  byApp.set(app, headers);
}

/** The headers of an app's answers; none where `useAnswerHeaders` gave none. */
export function answerHeadersOf(app: object): AnswerHeaders {
  return byApp.get(app) ?? noAnswerHeaders;
}

function known(middleware: readonly RequestHandler[], headers: Record<string, string>): KnownHeaders {
  const values = recordHeaders(middleware, headers);
  const list = [...values].flat();
  return { list, values, lines: headerLines(list) };
}

/**
 * Runs middleware once and keeps the headers that it sets, so that no request pays for computing them. Their names are
 * kept in lower case, which Node would compute again for every answer.
 */
function recordHeaders(middleware: readonly RequestHandler[], headers: Record<string, string>): Map<string, string> {
  const set = new Map<string, string>();
  const response = {
    setHeader: (name: string, value: unknown) => set.set(name.toLowerCase(), String(value)),
    getHeader: (name: string) => set.get(name.toLowerCase()),
    removeHeader: (name: string) => set.delete(name.toLowerCase()),
  };
  let failure: unknown;
  for (const step of middleware) {
    step({ method: 'GET', headers } as Request, response as unknown as Response, (error) => (failure ??= error));
  }
  if (failure) throw failure;
  return set;
}

/** `Vary` is added to, all others are replaced. */
function setHeaders(headers: Readonly<Record<string, string>>): RequestHandler {
  return (_req, res, next) => {
    for (const [name, value] of Object.entries(headers)) {
      const known = name === 'vary' ? res.getHeader('vary') : undefined;
      res.setHeader(name, known === undefined ? value : `${known}, ${value}`);
    }
    next();
  };
}

const exposedHeaders: readonly string[] = [
  'ETag',
  'X-Request-Id',
  'Link',
  'Location',
  'X-Result-Limit',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
];
const preflightSeconds = 600;
/**
 * How long the list of fields may be that a preflight asks for, in characters: its answer repeats the list, and nginx takes an
 * answer whose head is longer than 4 KB for a failure of the service, which then gets no request for ten seconds.
 */
const mostRequestedFields = 1024;

/**
 * Answers preflights (spec.md: Loaders, HTTP configuration). The headers of all other requests are constant for each
 * origin: `AnswerHeaders` has them.
 *
 * @param origins such as `https://app.example.com`; `*` among them means any
 */
export function answerPreflights(origins: readonly string[]): RequestHandler {
  const middleware = crossOriginMiddleware(origins);
  return function answerPreflight(req, res, next) {
    if (req.method !== 'OPTIONS' || req.headers['access-control-request-method'] === undefined) return next();
    if ((req.headers['access-control-request-headers'] ?? '').length > mostRequestedFields) throw tooManyFields();
    middleware(req, res, next);
  };
}

function tooManyFields(): BaseException {
  return new BaseException(`Access-Control-Request-Headers is longer than ${mostRequestedFields} characters`, 431);
}

/** Sets the headers of cross-origin resource sharing. Credentials are never allowed: tokens travel in `Authorization`. */
function crossOriginMiddleware(origins: readonly string[]): RequestHandler {
  const allowed = origins.map(normalizeOrigin);
  return cors({
    origin: allowed.includes('*') ? '*' : allowed,
    exposedHeaders: [...exposedHeaders],
    maxAge: preflightSeconds,
  });
}

/** Browsers send origins in lower case and without a final slash. */
function normalizeOrigin(origin: string): string {
  return origin.trim().replace(/\/+$/, '').toLowerCase();
}
