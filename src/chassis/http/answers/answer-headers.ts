import type { ServerResponse } from 'node:http';
import cors from 'cors';
import type { Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { ServerConfig } from '../../config/app-config.ts';
import type { Environment } from '../../config/environment.ts';

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

  /** Sets them on an answer that has no others yet. */
  apply(res: ServerResponse): void {
    const { list } = this.of(res.req.headers.origin);
    for (let index = 0; index < list.length; index += 2)
      res.setHeader(list[index] as string, list[index + 1] as string);
  }
}

/** Headers as Node takes them, and as they stand in an answer. */
export interface KnownHeaders {
  readonly list: HeaderList;
  readonly lines: string;
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
  const list = recordHeaders(middleware, headers);
  return { list, lines: headerLines(list) };
}

/**
 * Runs middleware once and keeps the headers that it sets, so that no request pays for computing them. Their names are
 * kept in lower case, which Node would compute again for every answer.
 */
function recordHeaders(middleware: readonly RequestHandler[], headers: Record<string, string>): HeaderList {
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
  return [...set].flat();
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
 * Answers preflights (spec.md: Loaders, HTTP configuration). The headers of all other requests are constant for each
 * origin: `AnswerHeaders` has them.
 *
 * @param origins such as `https://app.example.com`; `*` among them means any
 */
export function answerPreflights(origins: readonly string[]): RequestHandler {
  const middleware = crossOriginMiddleware(origins);
  return function answerPreflight(req, res, next) {
    if (req.method !== 'OPTIONS' || req.headers['access-control-request-method'] === undefined) return next();
    middleware(req, res, next);
  };
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
