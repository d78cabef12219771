import type { Request, RequestHandler, Response } from 'express';

/** Headers that a middleware sets whatever the request, as a flat list of names and values. */
export interface ConstantHeaders {
  readonly set: readonly (readonly [name: string, value: string])[];
  readonly removed: readonly string[];
}

/**
 * Runs a middleware once, at start, and keeps the headers that it sets, so that no request pays for computing them. Their
 * names are kept in lower case, which Node would look for anew in every answer.
 *
 * @param headers the request headers that the middleware sees
 */
export function recordHeaders(middleware: RequestHandler, headers: Record<string, string> = {}): ConstantHeaders {
  const set = new Map<string, string>();
  const removed: string[] = [];
  const response = {
    setHeader: (name: string, value: unknown) => set.set(name.toLowerCase(), String(value)),
    getHeader: (name: string) => set.get(name.toLowerCase()),
    removeHeader: (name: string) => removed.push(name),
  };
  let failure: unknown;
  middleware({ method: 'GET', headers } as Request, response as unknown as Response, (error) => (failure = error));
  if (failure) throw failure;
  return { set: [...set], removed };
}

/** Sets recorded headers on a response; `Vary` is added to, all others are replaced. */
export function applyHeaders(response: Response, headers: ConstantHeaders): void {
  for (const name of headers.removed) response.removeHeader(name);
  for (const [name, value] of headers.set) {
    if (name === 'vary' && response.hasHeader('vary')) response.vary(value);
    else response.setHeader(name, value);
  }
}
