import { setTimeout as wait } from 'node:timers/promises';
import type { z } from 'zod';
import { currentWaiter, stopAbandoned } from '../context/request-context.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { CallResult, OutboundMetrics } from '../telemetry/metrics/outbound-metrics.ts';
import type { ApiMethod, HttpAnswer, HttpClient, HttpClientOptions } from './api-types.ts';
import { Attempt } from './attempt.ts';
import { PeerFailure, peerException } from './peer-failure.ts';
import { type PathParameters, peerPath } from './peer-path.ts';
import { answerData, type RawAnswer, retryAfterMs } from './read-answer.ts';
import { openTransport, type Transport } from './transport.ts';

/** What a client is opened with: its options, with all of them settled. */
export interface PeerOptions extends Omit<HttpClientOptions, 'headers'> {
  headers: Readonly<Record<string, string>>;
}

/** Where calls are counted, and told of when the circuit breaker changes. */
export interface PeerWatch {
  logger: Pick<Logger, 'warn' | 'info'>;
  metrics: OutboundMetrics;
}

/** Any call's options, whatever its operation. */
type AnyCallOptions = PathParameters & {
  body?: unknown;
  accept?: readonly number[];
  schema?: z.ZodType | undefined;
  headers?: Readonly<Record<string, string>>;
  idempotencyKey?: string;
  timeoutMs?: number;
};

/** Of as many calls as there are connections, all together fit into a small pod. */
const longestAnswer = 1_048_576;
const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** The longest `Retry-After` that is waited for, also outside of a request. */
const longestRetryAfterMs = 10_000;

/** The client of one peer that one service has. */
export class PeerClient implements HttpClient {
  readonly #name: string;
  readonly #options: PeerOptions;
  readonly #watch: PeerWatch;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #transport: Promise<Transport>;
  #isClosed = false;

  constructor(name: string, options: PeerOptions, watch: PeerWatch) {
    this.#name = name;
    this.#options = options;
    this.#watch = watch;
    this.#base = new URL(options.url).pathname.replace(/\/$/, '');
    this.#headers = lowerCase(options.headers);
    watch.metrics.add(name);
    const { url, connections = 50, queue = connections, breaker } = options;
    this.#transport = openTransport({
      url,
      connections,
      queue,
      breaker: { calls: 20, failedShare: 0.5, openMs: 5_000, ...breaker },
      onState: (state) => {
        watch.metrics.breaker(name, state);
        if (state === 'open') watch.logger.warn({ peer: name }, 'circuit breaker opened: calls fail at once');
        if (state === 'closed') watch.logger.info({ peer: name }, 'circuit breaker closed: calls go through again');
      },
    });
    // The first call raises what was wrong with it.
    this.#transport.catch(() => undefined);
  }

  readonly get = this.#method('get');
  readonly put = this.#method('put');
  readonly post = this.#method('post');
  readonly patch = this.#method('patch');
  readonly delete = this.#method('delete');

  /** Ends its connections, those of calls under way a second later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch.metrics.remove(this.#name);
    const { pool } = await this.#transport;
    const closing = new AbortController();
    const late = wait(1_000, undefined, { signal: closing.signal }).then(
      () => pool.destroy(),
      () => undefined,
    );
    await Promise.race([pool.close(), late]);
    closing.abort();
  }

  #method<M extends ApiMethod>(method: M): HttpClient[M] {
    const call = (path: string, options: AnyCallOptions = {}) => this.#call(method.toUpperCase(), path, options);
    return call as HttpClient[M];
  }

  async #call(method: string, template: string, options: AnyCallOptions): Promise<HttpAnswer> {
    const isRepeatable = method === 'GET' || options.idempotencyKey !== undefined;
    const retries = isRepeatable ? (this.#options.retries ?? 2) : 0;
    const attempt = this.#attemptOf(method, template, options);
    for (let attempts = 1; ; attempts += 1) {
      try {
        return answerOf(await this.#try(attempt, options), options);
      } catch (error) {
        if (!(error instanceof PeerFailure)) throw error;
        const pause = attempts <= retries ? pauseMs(attempts, error) : undefined;
        if (pause === undefined) {
          throw peerException(error, { peer: this.#name, method, path: template, attempts });
        }
        this.#watch.metrics.retried(this.#name, method);
        await wait(pause);
      }
    }
  }

  #attemptOf(method: string, template: string, options: AnyCallOptions): Attempt {
    const { body, headers = {}, idempotencyKey } = options;
    const sent = typeof body === 'string' || body instanceof Uint8Array || body === undefined;
    return new Attempt({
      method,
      path: `${this.#base}${peerPath(template, options)}`,
      body: sent ? body : JSON.stringify(body),
      headers: {
        accept: 'application/json',
        ...(!sent && { 'content-type': 'application/json' }),
        ...this.#headers,
        ...lowerCase(headers),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      maxBytes: this.#options.maxBytes ?? longestAnswer,
    });
  }

  async #try(attempt: Attempt, { timeoutMs = this.#options.timeoutMs ?? 5_000, accept }: AnyCallOptions) {
    stopAbandoned();
    if (this.#isClosed) throw new PeerFailure({ reason: 'closed' });
    const { metrics } = this.#watch;
    const began = performance.now();
    let result: CallResult = 'error';
    try {
      const answer = await attempt.run(await this.#transport, { timeoutMs, leftMs: leftMs(), accept });
      result = `${Math.floor(answer.status / 100)}xx` as CallResult;
      return answer;
    } catch (error) {
      if (error instanceof PeerFailure) result = resultOf(error);
      throw error;
    } finally {
      metrics.called(this.#name, attempt.method, result, (performance.now() - began) / 1000);
    }
  }
}

/** How long to wait before the next attempt, in milliseconds; undefined where there is none that could come in time. */
function pauseMs(attempts: number, failure: PeerFailure): number | undefined {
  if (!failure.isTransient) return undefined;
  // Random from nothing to a bound that grows, so that those who failed together do not come together.
  const jitter = Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** (attempts - 1));
  const pause = Math.max(jitter, failure.retryAfterMs ?? 0);
  return pause < Math.min(leftMs(), longestRetryAfterMs + 1) ? pause : undefined;
}

/** What is left until the deadline of the request, in milliseconds; without end outside of one. */
function leftMs(): number {
  const deadline = currentWaiter()?.deadline;
  return deadline === undefined ? Number.MAX_SAFE_INTEGER : deadline - Date.now();
}

function answerOf(raw: RawAnswer, { accept = [], schema }: AnyCallOptions): HttpAnswer {
  const { status, headers } = raw;
  const isSuccess = status >= 200 && status < 300;
  if (!isSuccess && !accept.includes(status)) {
    throw new PeerFailure({ reason: 'status', status, retryAfterMs: retryAfterMs(headers['retry-after']) });
  }
  const data = answerData(raw);
  if (!isSuccess || schema === undefined) return { status, headers, data };
  const parsed = schema.safeParse(data);
  if (!parsed.success) throw new PeerFailure({ reason: 'unreadable', status, cause: parsed.error });
  return { status, headers, data: parsed.data };
}

function resultOf({ reason, status }: PeerFailure): CallResult {
  if (reason === 'status') return `${Math.floor((status ?? 0) / 100)}xx` as CallResult;
  if (reason === 'circuit open' || reason === 'too many calls' || reason === 'closed') return 'refused';
  return reason === 'timeout' || reason === 'deadline' ? 'timeout' : 'error';
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
