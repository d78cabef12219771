import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request that came, with its body. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** By `Date.now()`. */
  at: number;
}

type Answer = (res: ServerResponse, received: Received) => void;

/** Another service, as a real HTTP server whose answers the test decides. */
export class FakePeer {
  readonly received: Received[] = [];
  /** Requests whose connection ended before their answer. */
  left = 0;
  /** What it answers with; `undefined` answers nothing, for as long as it stays. */
  answer: Answer | undefined;
  readonly #held = new Set<ServerResponse>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((req, res) => void this.#take(req, res)).listen(0, '127.0.0.1');
  }

  static async open(answer?: Answer): Promise<FakePeer> {
    const peer = new FakePeer();
    peer.answer = answer;
    await once(peer.#server, 'listening');
    return peer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many connections are open. */
  connections(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#server.getConnections((_error, count) => resolve(count));
    return promise;
  }

  /** Forgets what came, and answers so from now on. */
  becomes(answer?: Answer): void {
    this.received.length = 0;
    this.left = 0;
    this.answer = answer;
  }

  /** How many requests wait for an answer that is not given. */
  get held(): number {
    return this.#held.size;
  }

  /** Answers all that wait. */
  release(): void {
    for (const res of this.#held) jsonAnswer({ late: true })(res);
    this.#held.clear();
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const at = Date.now();
    const received = { method: req.method ?? '', url: req.url ?? '', headers: req.headers, body: await text(req), at };
    this.received.push(received);
    if (this.answer) return this.answer(res, received);
    this.#held.add(res);
    res.on('close', () => {
      if (this.#held.delete(res)) this.left += 1;
    });
  }
}

/** Answers with this body as JSON. */
export function jsonAnswer(
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): (res: ServerResponse) => void {
  return (res) => res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Answers with each of these in turn, with the last from then on. */
export function inTurn(...answers: Answer[]): Answer {
  let index = 0;
  return (res, received) => answers[Math.min(index++, answers.length - 1)]?.(res, received);
}

/** A port of loopback that is free at this moment. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
