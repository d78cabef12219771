import type { Request, RequestHandler } from 'express';
import { currentService } from '../context/current-service.ts';
import { clientKey } from '../http/pipeline/client-key.ts';
import { requestContextOf } from '../http/pipeline/request-context-of.ts';
import { LimitedRequests } from './limited-requests.ts';
import type { Quota, RateLimits } from './rate-limits.ts';

/** How much a client may send, and who counts as one. */
export interface RateLimitPolicy extends Quota {
  /** Names the quota in headers, metrics and Redis: letters, digits and `-`; quotas of one name share their counts. */
  name: string;
  /** Requests within the window. */
  points: number;
  /** The window, in seconds. */
  seconds: number;
  /**
   * Who counts as one client: its `address` (as far as TRUST_PROXY lets a proxy tell it; IPv6 by /64), the authenticated
   * `user` and the address of others, for a step behind the guard, before which nobody is known, or what a function makes
   * of the request; undefined is not limited. Default `address`.
   */
  by?: 'address' | 'user' | ((request: Request) => string | undefined);
}

/**
 * A step that lets each client send so much within a window, and raises TooManyRequestsException for more, with
 * `Retry-After`. Every answer carries `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers, 11).
 * A request takes one point, and one more for each 100 units of its cost beyond the first (see `chargeRequest`), as soon
 * as that is known; at most all that there are. Counted in memory, or by all replicas together with REDIS_URL. Lets all
 * pass while RATE_LIMIT_ENABLED is false. To be called where routes are defined, not at import.
 *
 * @param limits whose counts; the current service's by default
 */
export function rateLimit(policy: RateLimitPolicy, limits: RateLimits = currentService().rateLimits): RequestHandler {
  if (!/^[\w-]{1,50}$/.test(policy.name)) {
    throw new Error(`Expected a rate limit's name of letters, digits and -, found ${JSON.stringify(policy.name)}.`);
  }
  const counter = limits.counterFor(policy);
  if (!counter) return (_req, _res, next) => next();
  const keyOf = keyFunction(policy.by ?? 'address');
  const requests = new LimitedRequests(policy, counter, limits.metrics);
  return function limitRate(req, res, next) {
    const key = keyOf(req);
    if (key === undefined) return next();
    const left = counter.consume(key, 1);
    // What cannot count must not refuse.
    if (left instanceof Promise)
      left.then(
        (known) => next(requests.begin(req, res, key, known)),
        () => next(),
      );
    else next(requests.begin(req, res, key, left));
  };
}

function keyFunction(by: NonNullable<RateLimitPolicy['by']>): (request: Request) => string | undefined {
  if (typeof by === 'function') return by;
  if (by === 'user') return (req) => requestContextOf(req).userId ?? addressOf(req);
  return addressOf;
}

/** The client's address as rate limits count it, for the `by` of a policy. */
export function addressOf(req: Request): string {
  return clientKey(requestContextOf(req).ipAddress);
}
