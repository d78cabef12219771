import { Readable } from 'node:stream';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { PeerFailure } from '../../outbound/peer-failure.ts';
import { readBounded } from '../../outbound/read-answer.ts';
import { openTransport, type Transport } from '../../outbound/transport.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { CallResult, OutboundMetrics } from '../../telemetry/metrics/outbound-metrics.ts';

/** What the SDK sends its requests by. */
type Handler = Extract<S3ClientConfig['requestHandler'], { handle: unknown }>;
type HandledRequest = Parameters<Handler['handle']>[0];
type HandlerOptions = NonNullable<Parameters<Handler['handle']>[1]>;
type HandledAnswer = Awaited<ReturnType<Handler['handle']>>;

/** Where calls are counted, and told of when the circuit breaker changes. */
interface Watch {
  logger: Pick<Logger, 'warn' | 'info'>;
  metrics: OutboundMetrics;
}

/** Calls whose head may be awaited at once, and as many that wait for their turn. */
const callsAtOnce = 50;
/**
 * So many of them are kept for who has none under way: an upload makes three, and would wait for as many rounds of missing files.
 * Five were as many as five uploads a second take of an S3 that needs 300 ms.
 */
const keptCalls = 15;

/** The longest answer that is no content of a file, in bytes: the SDK holds it whole, and a thousand keys take half of that. */
const longestAnswer = 2_097_152;

/** An answer that says that the peer is not well; the circuit breaker counts it, the SDK reads it. */
class FailedAnswer extends PeerFailure {
  readonly answer: HandledAnswer;

  constructor(answer: HandledAnswer) {
    super({ reason: 'status', status: answer.response.statusCode });
    this.answer = answer;
  }
}

/**
 * Sends what the SDK asks by the means of all calls of other services: a pool of each origin, a bulkhead and a circuit
 * breaker of S3, metrics, and spans.
 */
export class PeerHandler {
  readonly metadata = { handlerProtocol: 'http/1.1' };
  readonly #name: string;
  readonly #bodyTimeoutMs: number;
  readonly #watch: Watch;
  readonly #transports = new Map<string, Promise<Transport>>();

  /** @param bodyTimeoutMs how long the next bytes of an answer may take, in milliseconds */
  constructor(name: string, bodyTimeoutMs: number, watch: Watch) {
    this.#name = name;
    this.#bodyTimeoutMs = bodyTimeoutMs;
    this.#watch = watch;
    watch.metrics.add(name);
  }

  /** Resolves with the head of the answer; its body is read later. @throws PeerFailure */
  async handle(request: HandledRequest, { abortSignal }: HandlerOptions = {}): Promise<HandledAnswer> {
    // Those who ask for credentials give none.
    const signal = abortSignal as AbortSignal | undefined;
    const began = performance.now();
    let result: CallResult = 'error';
    try {
      const transport = await this.#transportOf(request);
      const answer = await transport
        .guard(() => this.#send(transport, request, signal), signal)
        .catch((error) => (error instanceof FailedAnswer ? error.answer : Promise.reject(error)));
      result = `${Math.floor(answer.response.statusCode / 100)}xx` as CallResult;
      return answer;
    } catch (error) {
      if (error instanceof PeerFailure) result = resultOf(error);
      throw error;
    } finally {
      this.#watch.metrics.called(this.#name, request.method, result, (performance.now() - began) / 1000);
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#watch.metrics.remove(this.#name);
    const transports = await Promise.all(this.#transports.values());
    this.#transports.clear();
    await Promise.all(transports.map(({ pool }) => pool.destroy()));
  }

  /** What the SDK would set anew for a client. */
  updateHttpClientConfig(): void {
    // Nothing: this handler has its own.
  }

  httpHandlerConfigs(): Record<string, never> {
    return {};
  }

  async #send({ pool }: Transport, request: HandledRequest, signal: AbortSignal | undefined): Promise<HandledAnswer> {
    try {
      const {
        statusCode,
        headers: answered,
        body,
      } = await pool.request({
        method: request.method as 'GET',
        path: pathOf(request),
        headers: sendable(request.headers),
        body: request.body,
        signal: signal ?? null,
        headersTimeout: 0,
        bodyTimeout: this.#bodyTimeoutMs,
      });
      const read = isContent(request, statusCode) ? body : Readable.from([await readBounded(body, longestAnswer)]);
      const answer = { response: { statusCode, headers: answered as Record<string, string>, body: read } };
      if (statusCode < 500) return answer;
      throw new FailedAnswer(answer);
    } catch (error) {
      if (error instanceof PeerFailure) throw error;
      if (signal?.aborted) throw signal.reason;
      throw new PeerFailure({ reason: 'unreachable', cause: error });
    }
  }

  /** The bucket has one origin; who gives out credentials has another. */
  #transportOf({ protocol, hostname, port }: HandledRequest): Promise<Transport> {
    const url = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`;
    const known = this.#transports.get(url);
    if (known) return known;
    const { logger, metrics } = this.#watch;
    const opened = openTransport({
      url,
      connections: callsAtOnce,
      queue: callsAtOnce,
      kept: keptCalls,
      streams: true,
      breaker: { calls: 20, failedShare: 0.5, openMs: 5_000 },
      onState: (state) => {
        metrics.breaker(this.#name, state);
        if (state === 'open') logger.warn({ peer: this.#name }, 'circuit breaker opened: calls fail at once');
        if (state === 'closed') logger.info({ peer: this.#name }, 'circuit breaker closed: calls go through again');
      },
    });
    this.#transports.set(url, opened);
    return opened;
  }
}

/** Whether an answer is what a file holds, which is as long as the file is. */
function isContent({ method, query = {} }: HandledRequest, status: number): boolean {
  return method === 'GET' && !('list-type' in query) && status < 300;
}

/** Without asking first for the body of a large file: it is read from a disk, and undici does not ask. */
function sendable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'expect'));
}

function pathOf({ path, query = {} }: HandledRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent((one as string | null) ?? '')}`),
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

function resultOf({ reason }: PeerFailure): CallResult {
  if (reason === 'timeout') return 'timeout';
  return reason === 'unreachable' ? 'error' : 'refused';
}
