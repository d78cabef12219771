import type { Request, RequestHandler, Response } from 'express';
import { currentService } from '../context/current-service.ts';
import { callerKey, clientKey, ordinaryCost, type RequestContext } from '../context/request-context.ts';
import { TooManyRequestsException } from '../errors/exceptions.ts';
import { withoutBody } from '../http/bodies/request-body.ts';
import { requestContextOf } from '../http/pipeline/request-context-of.ts';
import type { OverloadMetrics } from '../telemetry/metrics/overload-metrics.ts';

/** Counts the points of one quota. */
export interface QuotaCounter {
  /** Takes points of a key, whether there are any or not; a promise only where another process has to be asked. */
  consume(key: string, points: number): Left | Promise<Left>;
  /** What is left of a key, as far as this process knows. */
  known(key: string, last: Left): Left;
}

/** What is counted: `points` within `seconds`, under a name of its own. */
export interface Quota {
  name: string;
  points: number;
  seconds: number;
}

/** Where requests beyond a limit are counted. */
type LimitMetrics = Pick<OverloadMetrics, 'limited'>;

/** The rate limits of a service. */
interface RateLimits {
  readonly metrics: LimitMetrics;
  /** A counter for one quota; undefined while rate limits are switched off. */
  counterFor(quota: Quota): QuotaCounter | undefined;
}

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
   * `user` and the address of others, for a step behind the guard (before it the caller is unknown), or what a function makes
   * of the request; undefined is not limited. Default `address`.
   */
  by?: 'address' | 'user' | ((request: Request) => string | undefined);
  /** Whether answers tell the quota; false where what is left of it would tell a client of others. Default true. */
  headers?: boolean;
}

/**
 * A step that limits what each client sends within a window. It raises TooManyRequestsException beyond that, with
 * `Retry-After`. Every answer carries `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers, 11), unless
 * `headers` is false.
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
  const step = limitStep(policy, limits);
  // A key that a function makes may be one of the body.
  return typeof policy.by === 'function' ? step : withoutBody(step);
}

function limitStep(policy: RateLimitPolicy, limits: RateLimits): RequestHandler {
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
  if (by === 'user') return (req) => callerKey(requestContextOf(req));
  return addressOf;
}

/** The client's address as rate limits count it, for the `by` of a policy. */
export function addressOf(req: Request): string {
  return clientKey(requestContextOf(req).ipAddress);
}

/** Requests under one quota: what they take of it, what their answers tell of it, and those that it refuses. */
class LimitedRequests {
  readonly #quota: Quota;
  readonly #counter: QuotaCounter;
  readonly #metrics: LimitMetrics;
  readonly #rule: string;
  readonly #isTold: boolean;

  constructor(quota: Quota & Pick<RateLimitPolicy, 'headers'>, counter: QuotaCounter, metrics: LimitMetrics) {
    this.#quota = quota;
    this.#counter = counter;
    this.#metrics = metrics;
    this.#isTold = quota.headers ?? true;
    this.#rule = `"${quota.name}";q=${quota.points};w=${quota.seconds}`;
  }

  /** Begins with what is left after the first point; gives the refusal where there was none. */
  begin(req: Request, res: Response, key: string, left: Left): TooManyRequestsException | undefined {
    if (this.#isTold) this.#tell(res, left);
    if (left.used > this.#quota.points) return this.#refusal(left);
    requestContextOf(req).onCharge?.(this.#bill(res, key, left));
    return undefined;
  }

  #tell(res: Response, left: Left): void {
    const rules = res.getHeader('RateLimit-Policy');
    const state = this.#state(left);
    res.setHeader('RateLimit-Policy', rules === undefined ? this.#rule : `${rules}, ${this.#rule}`);
    // A route with several quotas tells them all, as lists (RFC 9651).
    res.setHeader('RateLimit', rules === undefined ? state : `${res.getHeader('RateLimit')}, ${state}`);
  }

  /** Takes the rest of what a request costs, and raises the refusal where there is less left. */
  #bill(res: Response, key: string, first: Left): (cost: number, context: RequestContext) => void {
    const { points } = this.#quota;
    let cost = 0;
    let taken = 1;
    let told = first;
    return (more, { isStreaming }) => {
      cost += more;
      const missing = Math.min(Math.ceil(cost / ordinaryCost), points) - taken;
      if (missing <= 0) return;
      const left = this.#counter.known(key, told);
      if (left.used + missing > points && !isStreaming) throw this.#refusal(left);
      const after = this.#counter.consume(key, missing);
      // The answer of Redis comes too late for this response; the next request asks again.
      if (after instanceof Promise) after.catch(() => undefined);
      taken += missing;
      const now = { used: left.used + missing, resetMs: left.resetMs };
      // That of a stream has gone.
      if (this.#isTold && !res.headersSent)
        res.setHeader('RateLimit', String(res.getHeader('RateLimit')).replace(this.#state(told), this.#state(now)));
      told = now;
    };
  }

  #state(left: Left): string {
    return `"${this.#quota.name}";r=${Math.max(0, this.#quota.points - left.used)};t=${secondsOf(left)}`;
  }

  #refusal(left: Left): TooManyRequestsException {
    this.#metrics.limited(this.#quota.name);
    const seconds = secondsOf(left);
    return new TooManyRequestsException(`Too many requests; try again in ${seconds} s`, undefined, {
      headers: { 'Retry-After': String(seconds) },
      stack: false,
    });
  }
}

function secondsOf({ resetMs }: Left): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}

/** What is left of a quota after a request. */
export interface Left {
  /** Points used within the window, this request's among them. */
  used: number;
  /** Milliseconds until the window ends and all points are back. */
  resetMs: number;
}

/** Keys that are kept at most; some 200 bytes each. Clients choose some of them, such as addresses of accounts. */
const mostKeys = 20_000;
/** Where there is no room, the one of this many oldest that has used the least is forgotten. */
const candidates = 8;

/**
 * Counts points by key in this process's memory, in a window that begins with a key's first request. Answers at once: no
 * promise is made for a request. What has ended makes room when the next key comes; beyond a number of keys those make room
 * that have used little, so that who brings many keys does not have the count of another forgotten.
 */
export class WindowCounts {
  readonly #windowMs: number;
  /** In the order of their ends, because all windows have one length. */
  readonly #windows = new Map<string, { used: number; endsAt: number }>();

  /** @param seconds the length of the window */
  constructor(seconds: number) {
    this.#windowMs = seconds * 1000;
  }

  /** Keys whose window has not been seen to end. */
  get size(): number {
    return this.#windows.size;
  }

  /** Takes points of a key, whether there are any or not. */
  consume(key: string, points: number): Left {
    const now = Date.now();
    const window = this.#windows.get(key);
    if (window !== undefined && window.endsAt > now) {
      window.used += points;
      return { used: window.used, resetMs: window.endsAt - now };
    }
    this.#windows.delete(key);
    this.#dropEnded(now);
    if (this.#windows.size >= mostKeys) this.#makeRoom();
    this.#windows.set(key, { used: points, endsAt: now + this.#windowMs });
    return { used: points, resetMs: this.#windowMs };
  }

  /** What is used of a key now. */
  known(key: string): Left {
    const now = Date.now();
    const window = this.#windows.get(key);
    if (window === undefined || window.endsAt <= now) return { used: 0, resetMs: this.#windowMs };
    return { used: window.used, resetMs: window.endsAt - now };
  }

  #makeRoom(): void {
    let least: [key: string, used: number] | undefined;
    let seen = 0;
    for (const [key, { used }] of this.#windows) {
      if (least === undefined || used < least[1]) least = [key, used];
      seen += 1;
      if (seen === candidates) break;
    }
    if (least !== undefined) this.#windows.delete(least[0]);
  }

  #dropEnded(now: number): void {
    for (const [key, { endsAt }] of this.#windows) {
      if (endsAt > now) return;
      this.#windows.delete(key);
    }
  }
}
