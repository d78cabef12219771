import { getRequestContext } from './request-context.ts';

/**
 * Says what the request under way costs beside being received, as soon as that is known and before the work begins: its
 * client pays for it at rate limits and at overload. List policies compute the cost of their queries, and the controllers
 * of resources say it; a route with heavy work of its own says it itself. Does nothing outside a request.
 *
 * @param cost in units of finding one record by an index of the database, which takes about a millisecond
 * @throws TooManyRequestsException when the client has not that much left
 */
export function chargeRequest(cost: number): void {
  getRequestContext()?.charge?.(cost);
}
