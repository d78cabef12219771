import type { QuotaCounter } from '../admission/rate-limit.ts';
import type { RateLimitStore } from '../admission/rate-limit-store.ts';
import { TooManyRequestsException } from '../errors/exceptions.ts';

const name = 'idempotency';
const seconds = 3_600;

/** Bounds what each caller has stored by its idempotency keys, in kilobytes within an hour. */
export class StorageQuota {
  readonly #counter: QuotaCounter | undefined;
  readonly #kilobytes: number;
  readonly #limits: RateLimitStore;

  constructor(kilobytes: number, limits: RateLimitStore) {
    this.#kilobytes = kilobytes;
    this.#limits = limits;
    this.#counter = limits.counterFor({ name, points: kilobytes, seconds });
  }

  /** Counts a new key. @throws TooManyRequestsException beyond the quota */
  async begin(caller: string): Promise<void> {
    // What cannot count must not refuse.
    const left = await Promise.resolve(this.#counter?.consume(caller, 1)).catch(() => undefined);
    if (left === undefined || left.used <= this.#kilobytes) return;
    this.#limits.metrics.limited(name);
    const wait = Math.max(1, Math.ceil(left.resetMs / 1000));
    throw new TooManyRequestsException(`Too many requests with an Idempotency-Key; try again in ${wait} s`, undefined, {
      headers: { 'Retry-After': String(wait) },
    });
  }

  /** Counts what a key holds beyond its first kilobyte. @param length of what is stored, in characters */
  async stored(caller: string, length: number): Promise<void> {
    const more = Math.floor(length / 1_024);
    if (more > 0) await Promise.resolve(this.#counter?.consume(caller, more)).catch(() => undefined);
  }
}
