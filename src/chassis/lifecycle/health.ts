import { runOutsideRequest } from '../context/request-context.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { LoadFailure } from './start-up-report.ts';

/**
 * A named condition for readiness: resolves when it holds, rejects with the reason when it does not. It counts as failed
 * after a second, when `signal` is aborted; it is asked again once the last call has ended.
 */
export type HealthCheck = (signal: AbortSignal) => Promise<unknown>;

/** Where a service is in its life; only a serving one is ready. */
type Phase = 'starting' | 'serving' | 'shutting down';

type CheckOutcome = 'ok' | 'failed' | 'timed out';

/** Whether the service can take requests, and what each check says. Reasons stay in the log: probes may be public. */
interface Readiness {
  ready: boolean;
  checks: Record<string, CheckOutcome | 'failed to load' | Phase>;
}

/** What the health of a service is made of. */
interface HealthOptions {
  logger: Logger;
  /** The parts of modules that could not be loaded. */
  failures?: () => readonly LoadFailure[];
}

interface KnownCheck {
  check: HealthCheck;
  /** The call that is under way; its result is shared, so that a hanging check is never called twice. */
  pending?: Promise<CheckOutcome> | undefined;
  last?: CheckOutcome;
}

const checkTimeoutMs = 1000;
const cacheMs = 1000;

/** Whether a service can take requests. */
export class Health {
  readonly #logger: Logger;
  readonly #failures: () => readonly LoadFailure[];
  readonly #checks = new Map<string, KnownCheck>();
  #phase: Phase = 'starting';
  #last: { at: number; result: Promise<Readiness> } | undefined;

  constructor({ logger, failures = () => [] }: HealthOptions) {
    this.#logger = logger;
    this.#failures = failures;
  }

  /** Adds a condition for readiness; a check of the same name is replaced. */
  add(name: string, check: HealthCheck): void {
    this.#checks.set(name, { check });
    this.#last = undefined;
  }

  /** Sets the phase of the service, which readiness reports from then on. */
  enter(phase: Phase): void {
    this.#phase = phase;
    this.#last = undefined;
  }

  /**
   * Runs all checks side by side, each for at most a second; one answer serves everybody who asks within a second, so
   * that the work stays the same however often probes come. So the checks belong to no request: they are the service's own
   * work, and end neither with the request that happened to come first nor at its deadline. Before the service serves, and
   * once it shuts down, it runs none.
   */
  readiness(): Promise<Readiness> {
    if (this.#phase !== 'serving') return Promise.resolve({ ready: false, checks: { service: this.#phase } });
    const now = performance.now();
    if (!this.#last || now - this.#last.at > cacheMs) {
      this.#last = { at: now, result: runOutsideRequest(() => this.#runChecks()) };
    }
    return this.#last.result;
  }

  async #runChecks(): Promise<Readiness> {
    const failures = this.#failures().map(({ module, file }) => [`${module}/${file}`, 'failed to load'] as const);
    const checks = [...this.#checks].map(async ([name, known]) => [name, await this.#ask(name, known)] as const);
    const entries = [...failures, ...(await Promise.all(checks))];
    return { ready: entries.every(([, result]) => result === 'ok'), checks: Object.fromEntries(entries) };
  }

  async #ask(name: string, known: KnownCheck): Promise<CheckOutcome> {
    const { promise: late, resolve } = Promise.withResolvers<CheckOutcome>();
    const abort = new AbortController();
    const timer = setTimeout(() => {
      resolve('timed out');
      abort.abort();
    }, checkTimeoutMs);
    known.pending ??= this.#call(name, known, abort.signal).finally(() => {
      known.pending = undefined;
    });
    const outcome = await Promise.race([known.pending, late]);
    clearTimeout(timer);
    // The line is written when something changes, not at each probe.
    if (outcome === 'timed out' && known.last !== outcome) this.#logger.warn({ check: name }, 'health check timed out');
    if (outcome === 'ok' && known.last && known.last !== 'ok') {
      this.#logger.info({ check: name }, 'health check recovered');
    }
    known.last = outcome;
    return outcome;
  }

  async #call(name: string, known: KnownCheck, signal: AbortSignal): Promise<CheckOutcome> {
    try {
      await known.check(signal);
      return 'ok';
    } catch (error) {
      if (known.last !== 'failed') this.#logger.warn({ err: error, check: name }, 'health check failed');
      return 'failed';
    }
  }
}
