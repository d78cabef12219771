import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

/** A request of a client, and what came of it. */
export interface Attempt {
  client: string;
  method: string;
  path: string;
  /** The status, or 0 where there is no answer. */
  status: number;
  headers: IncomingHttpHeaders;
  /** The body, or why there is no answer. */
  body: string;
  ms: number;
}

/** What clients ask for. */
export interface ClientRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

type Send = (url: string, request: ClientRequest) => Promise<Pick<Attempt, 'status' | 'headers' | 'body'>>;

const timeoutMs = 30_000;
const pauseMs = 20;

/**
 * Three kinds of client that never try twice: Node's own with connections that are kept alive, undici with a pool (fetch
 * is undici), and one with a new connection for each request. Each keeps asking until `stop`.
 */
export class Clients {
  readonly #url: string;
  readonly #next: () => ClientRequest;
  readonly #see: (attempt: Attempt) => void;
  readonly #running: Promise<void>[] = [];
  readonly #agent = new Agent({ keepAlive: true });
  #stopped = false;

  /** @param next makes each request; `see` is told of each attempt */
  constructor(url: string, next: () => ClientRequest, see: (attempt: Attempt) => void) {
    this.#url = url;
    this.#next = next;
    this.#see = see;
  }

  /** Has each kind of client ask `workers` things at a time. */
  async start(workers: number): Promise<void> {
    const pool = await undiciPool(workers);
    const kinds: [string, Send][] = [
      ['http.Agent', (url, { body, ...asked }) => sendByNode(url, this.#agent, asked, body)],
      ['undici pool', (url, asked) => sendByUndici(url, pool, asked)],
      ['new connections', (url, { body, ...asked }) => sendByNode(url, false, asked, body)],
    ];
    for (const [client, send] of kinds) {
      for (let worker = 0; worker < workers; worker++) this.#running.push(this.#work(client, send));
    }
  }

  /** Lets what is under way end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    this.#agent.destroy();
  }

  async #work(client: string, send: Send): Promise<void> {
    while (!this.#stopped) {
      const asked = this.#next();
      const began = performance.now();
      const answer = await send(this.#url + asked.path, asked).catch(noAnswer);
      this.#see({ client, method: asked.method, path: asked.path, ms: performance.now() - began, ...answer });
      await wait(Math.random() * pauseMs);
    }
  }
}

/** A token of the administrator of the sample data. */
export async function adminToken(url: string): Promise<string> {
  const response = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'admin@example.com', password: 'slipway-demo-password' }),
  });
  const { data } = (await response.json()) as { data: { accessToken: string } };
  return data.accessToken;
}

function noAnswer(error: Error): Pick<Attempt, 'status' | 'headers' | 'body'> {
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return { status: 0, headers: {}, body: `${error.message}${cause}` };
}

async function sendByNode(
  url: string,
  agent: Agent | false,
  { method, headers }: Omit<ClientRequest, 'body'>,
  body: string | undefined,
) {
  const { promise, resolve, reject } = Promise.withResolvers<Pick<Attempt, 'status' | 'headers' | 'body'>>();
  const sent = request(url, { agent, method, headers: headers ?? {}, signal: AbortSignal.timeout(timeoutMs) });
  sent.on('error', reject).on('response', (response) => {
    const { statusCode: status = 0, headers: answered } = response;
    text(response).then((read) => resolve({ status, headers: answered, body: read }), reject);
  });
  sent.end(body);
  return promise;
}

async function sendByUndici(url: string, dispatcher: unknown, { method, headers, body }: ClientRequest) {
  const init = {
    method,
    headers: headers ?? {},
    body: body ?? null,
    signal: AbortSignal.timeout(timeoutMs),
    dispatcher,
  };
  const response = await fetch(url, init as RequestInit);
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/** The undici that Node brings has no door but its global dispatcher, which is there after the first fetch. */
async function undiciPool(connections: number): Promise<unknown> {
  await fetch('data:,').then((response) => response.text());
  const known = (globalThis as Record<symbol, unknown>)[Symbol.for('undici.globalDispatcher.1')] as object;
  const Dispatcher = known.constructor as new (options: object) => unknown;
  return new Dispatcher({ connections, pipelining: 1 });
}
