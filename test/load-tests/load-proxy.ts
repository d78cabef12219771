import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** An answer on its way to the client. */
export interface PassingAnswer {
  method: string;
  url: URL;
  status: number;
  text: string;
}

/** What a proxy does to the traffic of a service, to plant a fault. */
export interface PlantedFault {
  /** Milliseconds that a request waits. */
  wait?: number | ((url: URL) => number);
  /** Whether a request is answered 503, with the wish to try again after a second. */
  refuse?: (url: URL) => boolean;
  /** Changes the query of a request. */
  ask?: (url: URL) => void;
  /** Changes the body of an answer, or the service behind it before its client hears of it. */
  answer?: (answer: PassingAnswer) => string | Promise<string>;
}

/** A proxy with its address. It ends where it leaves its scope. */
export interface LoadProxy extends AsyncDisposable {
  readonly url: string;
}

/** Starts a proxy in front of a service. */
export async function startProxy(target: string, fault: PlantedFault): Promise<LoadProxy> {
  const ended = new AbortController();
  const server = createServer(async (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', target);
    const wait = typeof fault.wait === 'function' ? fault.wait(url) : fault.wait;
    if (wait && !(await waited(wait, ended.signal))) return;
    // k6 ends requests that are under way when a threshold ends the run.
    if (outgoing.destroyed) return;
    if (fault.refuse?.(url)) {
      outgoing.writeHead(503, { 'retry-after': '1' }).end();
      return;
    }
    fault.ask?.(url);
    const { status, headers, text } = await pass(incoming, url);
    const passing = { method: incoming.method ?? '', url, status, text };
    const changed = Buffer.from((await fault.answer?.(passing)) ?? text);
    outgoing.writeHead(status, { ...headers, 'content-length': changed.length });
    outgoing.end(changed);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      ended.abort();
      server.close().closeAllConnections();
    },
  };
}

/** Whether the time has passed before the end. */
function waited(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return delay(milliseconds, undefined, { signal }).then(
    () => true,
    () => false,
  );
}

async function pass(incoming: IncomingMessage, url: URL) {
  const { 'accept-encoding': _, ...headers } = incoming.headers;
  const outgoing = request(url, { method: incoming.method ?? 'GET', headers: { ...headers, host: url.host } });
  incoming.pipe(outgoing);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = answer.headers;
  const text = (await answer.toArray()).join('');
  return { status: answer.statusCode ?? 502, headers: kept, text };
}
