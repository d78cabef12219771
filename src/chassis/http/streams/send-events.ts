import { once } from 'node:events';
import type { Request, Response } from 'express';
import { currentService } from '../../context/current-service.ts';
import { getRequestContext, recheckCaller } from '../../context/request-context.ts';
import { dropBody } from '../bodies/kept-bodies.ts';
import { eventText, type ServerEvent } from './event-text.ts';

/** How a stream of events is kept open. */
export interface EventsOptions {
  /** Time between two signs of life, at which the guards are asked again too, in milliseconds. Default 15,000. */
  heartbeatMs?: number;
  /** When a client that lost the connection comes back, in milliseconds. Default 2,000. */
  retryMs?: number;
  /** Streams of events that one caller may have open at once; the next is a 429. Default 50. */
  perCaller?: number;
}

/** How long the answer waits for the first event, in milliseconds: what fails sooner is answered like any failure. */
const firstEventMs = 1000;

/** The id of the last event that a client got before it connected again; undefined at its first time. */
export function lastEventId(req: Request): string | undefined {
  return req.get('last-event-id') || undefined;
}

/**
 * Answers with events as they come, until their source ends, the client goes away, the guards of the route would not let
 * the caller in any more, all places are taken and a caller with fewer wants one, or the service begins to drain: the client
 * then connects again, to another replica, with `Last-Event-ID`. The source ends (its `finally` runs) with it, by the signal
 * of the request where it waits for something, and at its next query. A client that reads slowly has the source wait.
 *
 * @throws what `events` raises before the first one and within a second, such as for a record that the caller may not see;
 * later it cuts the connection. TooManyRequestsException for a caller with `perCaller` streams of events open;
 * ServiceUnavailableException where half of all connections have one and none gives way
 */
export async function sendEvents(
  res: Response,
  events: AsyncIterable<ServerEvent>,
  { heartbeatMs = 15_000, retryMs = 2_000, perCaller = 50 }: EventsOptions = {},
): Promise<void> {
  const context = getRequestContext();
  const { streams, stopping } = currentService();
  const end = new StreamEnd(res, stopping);
  try {
    const leave = streams.enterEvents(context, perCaller, { cut: end.reach, pace: () => Number.POSITIVE_INFINITY });
    if (context) context.isStreaming = true;
    dropBody(res.req);
    await sendUntilEnd(res, events, end, { heartbeatMs, retryMs }).finally(leave);
    // A source that looks again and again and finds nothing new would not hear of the end from what it yields.
    context?.abort?.('The stream of events has ended');
  } finally {
    end.stop();
  }
}

async function sendUntilEnd(
  res: Response,
  events: AsyncIterable<ServerEvent>,
  end: StreamEnd,
  { heartbeatMs, retryMs }: Required<Pick<EventsOptions, 'heartbeatMs' | 'retryMs'>>,
): Promise<void> {
  const source = events[Symbol.asyncIterator]();
  let heartbeat: NodeJS.Timeout | undefined;
  try {
    let coming = source.next();
    await end.or(settledWithin(coming, firstEventMs));
    begin(res, retryMs);
    // Its answer is complete without a body, and an event may never come.
    if (res.req.method === 'HEAD') return void res.end();
    heartbeat = setInterval(() => beat(res, end), heartbeatMs).unref();
    for (;;) {
      const next = await end.or(coming);
      if (next === undefined || next.done) break;
      if (!res.write(eventText(next.value))) await end.or(once(res, 'drain'));
      coming = source.next();
    }
  } finally {
    clearInterval(heartbeat);
    // One that waits for its next event hears of the end when that comes.
    void Promise.resolve(source.return?.()).catch(() => undefined);
  }
  res.end();
}

function begin(res: Response, retryMs: number): void {
  res.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  // Proxies neither keep nor gather what is sent.
  res.setHeader('Cache-Control', 'no-cache, no-transform');
  res.setHeader('X-Accel-Buffering', 'no');
  res.write(`retry: ${retryMs}\n\n`);
}

/** A sign of life. Who has logged out meanwhile, or whose token has expired, hears of the end instead. */
function beat(res: Response, end: StreamEnd): void {
  if (!res.writableNeedDrain) res.write(': alive\n\n');
  recheckCaller().catch(() => end.reach());
}

/** Resolves with the promise or after a time; rejects only with it. */
async function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Whether the client has gone or the service drains, and a wait that this ends. */
class StreamEnd {
  readonly #res: Response;
  readonly #stopping: AbortSignal;
  #isReached = false;
  #wake: () => void = () => undefined;

  constructor(res: Response, stopping: AbortSignal) {
    this.#res = res;
    this.#stopping = stopping;
    if (stopping.aborted || res.destroyed) this.#isReached = true;
    stopping.addEventListener('abort', this.reach);
    res.on('close', this.reach);
  }

  /** What `work` gives, or undefined at the end. */
  or<T>(work: Promise<T>): Promise<T | undefined> {
    // A race with one promise for all waits would keep each of them until the end.
    return new Promise((resolve, reject) => {
      if (this.#isReached) resolve(undefined);
      else this.#wake = () => resolve(undefined);
      work.then(resolve, reject);
    });
  }

  /** Hears of nothing any more. */
  stop(): void {
    this.#stopping.removeEventListener('abort', this.reach);
    this.#res.off('close', this.reach);
  }

  readonly reach = (): void => {
    this.#isReached = true;
    this.#wake();
  };
}
