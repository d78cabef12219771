import { validateHeaderName, validateHeaderValue } from 'node:http';
import { currentWaiter } from '../context/request-context.ts';
import { RequestAbandonedException } from '../errors/exceptions.ts';
import { PeerFailure } from './peer-failure.ts';
import { type RawAnswer, readBounded, retryAfterMs } from './read-answer.ts';
import type { Transport } from './transport.ts';

/** A request as it is sent at each attempt. */
interface AttemptRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  /** The longest body of an answer that is read. */
  maxBytes: number;
}

/** How long an attempt may take, in milliseconds. */
interface AttemptTimes {
  timeoutMs: number;
  /** Until the deadline of the request. */
  leftMs: number;
}

/** An attempt that had less than this part of its time, once it had a connection, says nothing of the peer by being late. */
const shareOfTime = 0.9;

/** Node fires a timer at once that is set for longer. */
const longestTimerMs = 2_147_483_647;

/** What a path is sent with; undici refuses the rest. */
const sendablePath = /^[\x21-\xff]+$/;

/** One call of a peer, which may be tried several times. */
export class Attempt {
  readonly #request: AttemptRequest;

  /** @throws TypeError for a header or a path that cannot be sent, which is no failure of the peer */
  constructor(request: AttemptRequest) {
    for (const [name, value] of Object.entries(request.headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    if (!sendablePath.test(request.path)) {
      throw new TypeError(
        'Expected of the path of a call no blanks and control characters; fill it by its parameters.',
      );
    }
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  /**
   * Sends it, and reads the answer to its end; what waits for a connection counts towards its time. A safe call ends when
   * the client of the request goes away; what may change something goes on, because nobody could tell whether it did.
   *
   * @param accept statuses of 500 and above that are answers
   * @throws PeerFailure, RequestAbandonedException
   */
  async run(
    transport: Transport,
    { timeoutMs, leftMs, accept = [] }: AttemptTimes & { accept?: readonly number[] | undefined },
  ): Promise<RawAnswer> {
    const controller = new AbortController();
    const { promise: ended, reject } = Promise.withResolvers<never>();
    ended.catch(() => undefined);
    const end = (reason: Error) => {
      controller.abort(reason);
      reject(reason);
    };
    const ms = Math.min(timeoutMs, leftMs, longestTimerMs);
    const began = performance.now();
    let sent: number | undefined;
    // Clients choose deadlines, and how many calls wait for each other: neither must open the circuit breaker for all others.
    const reason = () => {
      if (sent === undefined) return 'too many calls';
      return ms - (sent - began) < timeoutMs * shareOfTime ? 'deadline' : 'timeout';
    };
    const timer = setTimeout(() => end(new PeerFailure({ reason: reason() })), ms);
    const waiter = this.method === 'GET' ? currentWaiter() : undefined;
    const leave = () => end(new RequestAbandonedException(waiter?.abortReason));
    waiter?.signal?.addEventListener('abort', leave);
    try {
      const send = (decides: boolean) => {
        sent = performance.now();
        return decides
          ? this.#sendAnyhow(transport, timeoutMs, accept)
          : this.#send(transport, controller.signal, accept);
      };
      return await Promise.race([transport.guard(send, controller.signal), ended]);
    } finally {
      clearTimeout(timer);
      waiter?.signal?.removeEventListener('abort', leave);
    }
  }

  /** Sends what decides about the circuit breaker: a client that leaves in time would keep it open for all others. */
  async #sendAnyhow(transport: Transport, timeoutMs: number, accept: readonly number[]): Promise<RawAnswer> {
    const controller = new AbortController();
    const end = () => controller.abort(new PeerFailure({ reason: 'timeout' }));
    const timer = setTimeout(end, Math.min(timeoutMs, longestTimerMs));
    try {
      return await this.#send(transport, controller.signal, accept);
    } finally {
      clearTimeout(timer);
    }
  }

  async #send({ pool }: Transport, signal: AbortSignal, accept: readonly number[]): Promise<RawAnswer> {
    const { maxBytes, ...request } = this.#request;
    try {
      // The signal ends it in time: undici's own times are exact to half a second.
      const times = { headersTimeout: 0, bodyTimeout: 0 };
      const { statusCode: status, headers, body } = await pool.request({ ...request, ...times, signal } as never);
      const answer = { status, headers, body: await readBounded(body, maxBytes) };
      if (status < 500 || accept.includes(status)) return answer;
      throw new PeerFailure({ reason: 'status', status, retryAfterMs: retryAfterMs(headers['retry-after']) });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof PeerFailure ? error : new PeerFailure({ reason: 'unreachable', cause: error });
    }
  }
}
