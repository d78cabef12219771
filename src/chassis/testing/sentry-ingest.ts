import { EventEmitter, on, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** An event as it came in; only what tests look at has a type. */
export interface SentryEvent {
  level: string;
  release: string;
  environment: string;
  server_name: string;
  transaction: string;
  culprit?: string;
  fingerprint: string[];
  tags: Record<string, string>;
  user?: Record<string, string>;
  request?: Record<string, unknown>;
  contexts: Record<string, Record<string, unknown>> & { trace: { trace_id: string; span_id: string } };
  exception: { values: SentryException[] };
}

/** One error of the chain; the list begins with the innermost. */
export interface SentryException {
  type: string;
  value: string;
  mechanism: Record<string, unknown>;
  stacktrace?: {
    frames: {
      filename: string;
      function: string;
      in_app: boolean;
      lineno?: number;
      pre_context?: string[];
      context_line?: string;
      post_context?: string[];
    }[];
  };
}

/** A server that takes envelopes as Sentry does, and answers, refuses, or never answers. */
export class SentryIngest {
  /** How envelopes are answered from now on. */
  answer: number | 'never' = 200;
  readonly events: SentryEvent[] = [];
  /** Every envelope as text, to look for what must not be in any. */
  readonly envelopes: string[] = [];
  /** Paths and encodings of the requests. */
  readonly requests: string[] = [];
  readonly #arrivals = new EventEmitter();
  readonly #server = createServer((request, response) => void this.#take(request, response));

  /** Listens on a free port of loopback until the end of the block. */
  static async start(): Promise<SentryIngest> {
    const ingest = new SentryIngest();
    ingest.#server.listen(0, '127.0.0.1');
    await once(ingest.#server, 'listening');
    return ingest;
  }

  get dsn(): string {
    return `http://public@127.0.0.1:${(this.#server.address() as AddressInfo).port}/1`;
  }

  /** The events so far, as soon as there are `count`. */
  async received(count: number): Promise<SentryEvent[]> {
    if (this.events.length >= count) return this.events;
    for await (const _ of on(this.#arrivals, 'envelope')) if (this.events.length >= count) break;
    return this.events;
  }

  /** The first request that arrives from now on. */
  async contacted(): Promise<void> {
    await once(this.#arrivals, 'envelope');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const encoding = request.headers['content-encoding'] ?? 'identity';
    const envelope = (encoding === 'gzip' ? gunzipSync(body) : body).toString('utf8');
    this.requests.push(`${request.method} ${request.url?.replace(/\?.*/, '')} ${encoding}`);
    this.envelopes.push(envelope);
    this.events.push(...eventsOf(envelope));
    this.#arrivals.emit('envelope');
    if (this.answer !== 'never') response.writeHead(this.answer, { 'Content-Type': 'application/json' }).end('{}');
  }
}

/** An envelope is lines of JSON: its header, then a header and a payload for each item. */
function eventsOf(envelope: string): SentryEvent[] {
  const [, ...lines] = envelope.split('\n').filter(Boolean);
  const items = Array.from({ length: lines.length / 2 }, (_, index) => lines.slice(index * 2, index * 2 + 2));
  return items
    .filter(([header]) => JSON.parse(header ?? '').type === 'event')
    .map(([, payload]) => JSON.parse(payload ?? ''));
}
