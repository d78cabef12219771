import type { Request, Response } from 'express';
import { TooManyRequestsException } from '../errors/exceptions.ts';
import { requestContextOf } from '../http/pipeline/request-context-of.ts';
import type { Quota, QuotaCounter, RateLimitsOptions } from './rate-limits.ts';
import type { Left } from './window-counts.ts';

/** A point pays for a request that costs so much; one that costs more takes more points. */
const costOfPoint = 100;

/** Requests under one quota: what they take of it, what their answers tell of it, and those that it refuses. */
export class LimitedRequests {
  readonly #quota: Quota;
  readonly #counter: QuotaCounter;
  readonly #metrics: RateLimitsOptions['metrics'];
  readonly #rule: string;

  constructor(quota: Quota, counter: QuotaCounter, metrics: RateLimitsOptions['metrics']) {
    this.#quota = quota;
    this.#counter = counter;
    this.#metrics = metrics;
    this.#rule = `"${quota.name}";q=${quota.points};w=${quota.seconds}`;
  }

  /** Begins with what is left after the first point; gives the refusal where there was none. */
  begin(req: Request, res: Response, key: string, left: Left): TooManyRequestsException | undefined {
    const rules = res.getHeader('RateLimit-Policy');
    const state = this.#state(left);
    res.setHeader('RateLimit-Policy', rules === undefined ? this.#rule : `${rules}, ${this.#rule}`);
    // A route with several quotas tells them all, as lists (RFC 9651).
    res.setHeader('RateLimit', rules === undefined ? state : `${res.getHeader('RateLimit')}, ${state}`);
    if (left.used > this.#quota.points) return this.#refusal(left);
    requestContextOf(req).onCharge?.(this.#bill(res, key, left));
    return undefined;
  }

  /** Takes the rest of what a request costs, and raises the refusal where there is less left. */
  #bill(res: Response, key: string, first: Left): (cost: number) => void {
    const { points } = this.#quota;
    let cost = 0;
    let taken = 1;
    let told = first;
    return (more) => {
      cost += more;
      const missing = Math.min(Math.ceil(cost / costOfPoint), points) - taken;
      if (missing <= 0) return;
      const left = this.#counter.known(key, told);
      if (left.used + missing > points) throw this.#refusal(left);
      const after = this.#counter.consume(key, missing);
      // What Redis says comes too late for this answer, and the next request asks it anew.
      if (after instanceof Promise) after.catch(() => undefined);
      taken += missing;
      const now = { used: left.used + missing, resetMs: left.resetMs };
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
    });
  }
}

function secondsOf({ resetMs }: Left): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}
