import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import { runOutsideRequest } from '../context/request-context.ts';
import { ServiceUnavailableException } from '../errors/exceptions.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { VerificationKeys } from './token-verifier.ts';

type FindKey = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** How long keys count, in milliseconds. */
interface KeyTimes {
  /** From this age on they are asked for again, while the ones at hand still serve. */
  refreshMs: number;
  /** At this age they count no more, because their issuer could not be reached for so long. */
  staleMs: number;
  /** Shortest time between two requests to the issuer, whatever tokens come in. */
  pauseMs?: number;
}

/** Keys of this many refreshes ago are not used before another attempt, as after a night without requests. */
const muchTooOld = 6;

/**
 * The keys of an issuer, as its JWKS document (RFC 7517) has them. They are asked for when a token names one that is not
 * known, at most once in `pauseMs`, and again when they are old. While the issuer cannot be reached those at hand serve on.
 */
export class RemoteKeys implements VerificationKeys {
  readonly #load: () => Promise<JSONWebKeySet>;
  readonly #times: Required<KeyTimes>;
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  #find: FindKey | undefined;
  #document = '';
  #version = 1;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  #loading: Promise<void> | undefined;

  /** @param load asks the issuer for its document */
  constructor(load: () => Promise<JSONWebKeySet>, times: KeyTimes, logger: Pick<Logger, 'info' | 'warn'>) {
    this.#load = load;
    this.#times = { pauseMs: 10_000, ...times };
    this.#logger = logger;
  }

  /**
   * The key that a token names.
   *
   * @throws JOSEError when the issuer has none, ServiceUnavailableException when it could not be asked
   */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (this.#find === undefined || (this.#age > muchTooOld * this.#times.refreshMs && !this.#hasFailed)) {
      await this.refresh();
    }
    const { errors } = await import('jose');
    try {
      return await this.#known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (!(await this.refresh())) throw this.#hasFailed ? unavailable() : error;
      return this.#known(header, token);
    }
  }

  /** Has the keys asked for in the background when they are old. */
  version(): number {
    const age = this.#age;
    if (age > this.#times.refreshMs) {
      if (age > this.#times.refreshMs + this.#times.staleMs) this.#forget();
      void this.refresh();
    }
    return this.#version;
  }

  /** Asks the issuer, unless that was done just before; whether it answered. Never rejects. */
  async refresh(): Promise<boolean> {
    if (this.#loading === undefined) {
      const { pauseMs } = this.#times;
      const pause = this.#find ? pauseMs : Math.min(pauseMs, 1_000);
      if (performance.now() - this.#triedAt < pause) return false;
      this.#loading = runOutsideRequest(() => this.#replace()).finally(() => {
        this.#loading = undefined;
      });
    }
    await this.#loading;
    return !this.#hasFailed;
  }

  get #age(): number {
    return performance.now() - this.#loadedAt;
  }

  #known(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (this.#find === undefined) throw unavailable();
    return this.#find(header, token);
  }

  async #replace(): Promise<void> {
    try {
      const [document, { createLocalJWKSet }] = await Promise.all([this.#load(), import('jose')]);
      const find = createLocalJWKSet(document);
      const text = JSON.stringify(document);
      if (text !== this.#document) {
        this.#version += 1;
        this.#logger.info({ keys: document.keys.map(({ kid }) => kid) }, 'keys of the token issuer loaded');
      }
      this.#find = find;
      this.#document = text;
      this.#loadedAt = performance.now();
      this.#hasFailed = false;
    } catch (err) {
      this.#hasFailed = true;
      const ageSeconds = this.#find && Math.round(this.#age / 1000);
      this.#logger.warn({ err, ageSeconds }, 'keys of the token issuer not loaded');
    } finally {
      this.#triedAt = performance.now();
    }
  }

  #forget(): void {
    if (this.#find === undefined) return;
    this.#find = undefined;
    this.#document = '';
    this.#version += 1;
  }
}

function unavailable(): ServiceUnavailableException {
  return new ServiceUnavailableException('Access tokens cannot be verified at present', undefined, {
    headers: { 'Retry-After': '5' },
  });
}
