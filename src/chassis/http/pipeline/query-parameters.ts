import type { Request } from 'express';
import { parseUrlEncoded } from '../bodies/url-encoded.ts';

/** The query parameters of a request by name; an object without a prototype. */
export type QueryParameters = Readonly<Record<string, string>>;

const parametersKey = Symbol('query parameters');

/**
 * The query parameters of a request, parsed on first use (spec.md: Query parameters of list requests).
 *
 * @throws BadRequestException when a parameter is repeated or percent-encoding is malformed
 */
export function queryParameters(req: Request): QueryParameters {
  const request = req as Request & { [parametersKey]?: QueryParameters };
  const known = request[parametersKey];
  if (known) return known;
  const start = req.url.indexOf('?');
  const parameters = parseUrlEncoded(start === -1 ? '' : withoutFragment(req.url.slice(start + 1)));
  request[parametersKey] = parameters;
  return parameters;
}

function withoutFragment(query: string): string {
  const fragment = query.indexOf('#');
  return fragment === -1 ? query : query.slice(0, fragment);
}
