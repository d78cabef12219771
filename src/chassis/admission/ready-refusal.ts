import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorBody } from '../errors/error-body.ts';
import type { BaseException } from '../errors/exceptions.ts';
import { type AnswerHeaders, headerLines, noAnswerHeaders } from '../http/answers/answer-headers.ts';
import { failureHeaders } from '../http/answers/send-failure.ts';
import { closesUnread } from '../http/bodies/request-body.ts';
import { requestIdOf } from '../http/pipeline/request-context-of.ts';

/** What of an answer depends on the settings. */
export interface ReadyRefusalOptions {
  /** Whether the reason is hidden (spec.md: Errors, body rule 1). */
  production: boolean;
  /** How long an idle connection stays open, as the clients are told; in milliseconds. */
  keepAliveMs: number;
  /** What every answer carries; nothing more by default. */
  headers?: AnswerHeaders;
}

/**
 * Answers many requests with one exception, in the one error body. All but the request's id and the time is made at start, and
 * written past Node's own making of an answer, which takes about a seventh of all the time that a refusal costs: a service
 * that refuses thousands of requests a second has it left for those that it admits.
 */
export class ReadyRefusal {
  readonly #status: number;
  readonly #start: string;
  readonly #constant: AnswerHeaders;
  readonly #headers: readonly string[];
  readonly #lines: string;
  readonly #connection: string;
  readonly #beforeTime: string;
  readonly #afterTime: string;
  #madeAt = Number.NaN;
  #body = '';
  #rest = '';

  constructor(exception: BaseException, { production, keepAliveMs, headers = noAnswerHeaders }: ReadyRefusalOptions) {
    this.#constant = headers;
    this.#status = exception.statusCode;
    this.#start = `HTTP/1.1 ${this.#status} ${STATUS_CODES[this.#status]}\r\nx-request-id: `;
    const time = exception.timestamp.toISOString();
    const body = JSON.stringify(errorBody(exception, production));
    const timeAt = body.indexOf(time);
    this.#beforeTime = body.slice(0, timeAt);
    this.#afterTime = body.slice(timeAt + time.length);
    const own = Object.entries(exception.headers ?? {}).flatMap(([name, value]) => [name.toLowerCase(), value]);
    this.#headers = [...failureHeaders, 'content-length', String(body.length), ...own];
    this.#lines = headerLines(this.#headers);
    this.#connection = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
  }

  /** Answers at once. */
  send(res: ServerResponse): void {
    const requestId = requestIdOf(res.req);
    const constant = this.#constant.of(res.req.headers.origin);
    this.#tellTime();
    if (closesUnread(res.req)) res.setHeader('connection', 'close');
    const socket = readySocket(res);
    if (!socket) {
      const headers = ['x-request-id', requestId, ...constant.list, ...this.#headers];
      res.writeHead(this.#status, headers).end(this.#body, 'latin1');
      return;
    }
    socket.write(`${this.#start}${requestId}\r\n${constant.lines}${this.#rest}`, 'latin1');
    // What the server waits for to turn to the next request of the connection.
    res.emit('finish');
  }

  /** Once a millisecond at most. */
  #tellTime(): void {
    const now = Date.now();
    if (now === this.#madeAt) return;
    const date = new Date(now);
    this.#madeAt = now;
    this.#body = this.#beforeTime + date.toISOString() + this.#afterTime;
    this.#rest = `${this.#lines}Date: ${date.toUTCString()}\r\n${this.#connection}\r\n${this.#body}`;
  }
}

/**
 * The connection that takes an answer as bytes: one whose turn it is, and that stays open. Node knows what another needs. So
 * does one that has not taken its last answer yet: requests sent ahead of it would be answered as fast as they are parsed,
 * thousands in one turn of the event loop, where of Node's answers the next waits for the end of the last.
 */
function readySocket(res: ServerResponse): Socket | undefined {
  const { req, socket } = res;
  if (!socket || socket.writableLength > 0 || !res.shouldKeepAlive || res.hasHeader('connection')) return undefined;
  return req.method === 'HEAD' ? undefined : socket;
}
