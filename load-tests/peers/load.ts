import { connect, type Socket } from 'node:net';

/** What is asked for, by turns, and the status that is a good answer. */
export interface Work {
  readonly requests: readonly Buffer[];
  readonly status: number;
}

/** What became of it. */
export interface LoadResult {
  /** Good answers. */
  answers: number;
  /** Answers with another status. */
  failed: number;
  seconds: number;
  /** Milliseconds of the slowest answer. */
  slowestMs: number;
}

/** A request of a path. */
export function get(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
}

/**
 * Sends requests over kept-alive sockets, each when the answer to the one before is in.
 *
 * @param more whether to go on, asked after each answer with the number of requests sent
 */
export async function load(
  port: number,
  work: Work,
  connections: number,
  more: (sent: number) => boolean,
): Promise<LoadResult> {
  const result: LoadResult = { answers: 0, failed: 0, seconds: 0, slowestMs: 0 };
  let sent = 0;
  const next = () => (more(sent) ? work.requests[sent++ % work.requests.length] : undefined);
  const sleep = stayAwake();
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, () => client(port, next, work.status, result)));
  sleep();
  result.seconds = (performance.now() - started) / 1000;
  return result;
}

/** To wake a client that sleeps costs the server, which would have slow servers look slower still. Gives what ends it. */
function stayAwake(): () => void {
  let turn = setImmediate(function again() {
    turn = setImmediate(again);
  });
  return () => clearImmediate(turn);
}

/** One client: a request goes out when the answer to the one before is in. */
function client(port: number, next: () => Buffer | undefined, good: number, result: LoadResult): Promise<void> {
  return new Promise((resolve, reject) => {
    let pending = '';
    let at = 0;
    const send = () => {
      const request = next();
      at = performance.now();
      if (request) socket.write(request);
      else {
        socket.end();
        resolve();
      }
    };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, send);
    socket.setEncoding('latin1').on('error', reject);
    socket.on('data', (chunk) => {
      pending += chunk;
      const length = answerLength(pending, socket);
      if (length === undefined || pending.length < length) return;
      if (pending.startsWith(`HTTP/1.1 ${good}`)) result.answers += 1;
      else result.failed += 1;
      pending = pending.slice(length);
      result.slowestMs = Math.max(result.slowestMs, performance.now() - at);
      send();
    });
  });
}

/** How long the answer at the start of `text` is; undefined while its head is not all there. */
function answerLength(text: string, socket: Socket): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return undefined;
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  if (length === undefined) {
    socket.destroy(new Error(`Expected an answer with a length, got ${text.slice(0, 200)}`));
    return undefined;
  }
  return head + 4 + Number(length);
}
