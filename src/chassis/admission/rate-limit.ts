import type { Request, RequestHandler, Response } from 'express';
import type { RateLimiterRes } from 'rate-limiter-flexible';
import { currentService } from '../context/current-service.ts';
import { TooManyRequestsException } from '../errors/exceptions.ts';
import { requestContextOf } from '../http/pipeline/request-context-of.ts';
import { clientKey } from './client-key.ts';
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
 * Counted in memory, or by all replicas together with REDIS_URL. Lets all pass while RATE_LIMIT_ENABLED is false.
 * To be called where routes are defined, not at import.
 *
 * @param limits whose counts; the current service's by default
 */
export function rateLimit(policy: RateLimitPolicy, limits: RateLimits = currentService().rateLimits): RequestHandler {
  const { name, points, seconds } = policy;
  if (!/^[\w-]{1,50}$/.test(name)) {
    throw new Error(`Expected a rate limit's name of letters, digits and -, found ${JSON.stringify(name)}.`);
  }
  const limiter = limits.limiterFor(policy);
  if (!limiter) return (_req, _res, next) => next();
  const keyOf = keyFunction(policy.by ?? 'address');
  const rule = `"${name}";q=${points};w=${seconds}`;
  return function limitRate(req, res, next) {
    const key = keyOf(req);
    if (key === undefined) return next();
    limiter.consume(key).then(
      (left) => {
        tell(res, rule, name, left);
        next();
      },
      (left: RateLimiterRes | Error) => {
        // What cannot count must not refuse.
        if (left instanceof Error) return next();
        tell(res, rule, name, left);
        limits.metrics.limited(name);
        next(refusal(secondsOf(left)));
      },
    );
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

/** A route with several quotas tells them all, as lists (RFC 9651). */
function tell(res: Response, rule: string, name: string, left: RateLimiterRes): void {
  const state = `"${name}";r=${left.remainingPoints};t=${secondsOf(left)}`;
  const rules = res.getHeader('RateLimit-Policy');
  res.setHeader('RateLimit-Policy', rules === undefined ? rule : `${rules}, ${rule}`);
  res.setHeader('RateLimit', rules === undefined ? state : `${res.getHeader('RateLimit')}, ${state}`);
}

function secondsOf({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000));
}

function refusal(seconds: number): TooManyRequestsException {
  return new TooManyRequestsException(`Too many requests; try again in ${seconds} s`, undefined, {
    headers: { 'Retry-After': String(seconds) },
  });
}
