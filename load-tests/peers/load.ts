import { connect, type Socket } from 'node:net';

const request = Buffer.from('GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n');

/** Sends `total` requests over `connections` kept-alive sockets and gives the seconds that they took. */
export async function load(port: number, total: number, connections: number): Promise<number> {
  const share = Math.ceil(total / connections);
  const sleep = stayAwake();
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, () => client(port, share)));
  sleep();
  return (performance.now() - started) / 1000;
}

/** To wake a client that sleeps costs the server, which would have slow servers look slower still. Gives what ends it. */
function stayAwake(): () => void {
  let turn = setImmediate(function again() {
    turn = setImmediate(again);
  });
  return () => clearImmediate(turn);
}

/** One client: a request goes out when the answer to the one before is in. */
function client(port: number, requests: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request));
    let left = requests;
    let pending = '';
    socket.setEncoding('latin1').on('error', reject);
    socket.on('data', (chunk) => {
      pending += chunk;
      const length = answerLength(pending, socket);
      if (length === undefined || pending.length < length) return;
      pending = pending.slice(length);
      left -= 1;
      if (left > 0) return void socket.write(request);
      socket.end();
      resolve();
    });
  });
}

/** How long the answer at the start of `text` is; undefined while its head is not all there. */
function answerLength(text: string, socket: Socket): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return undefined;
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  if (!text.startsWith('HTTP/1.1 200') || length === undefined) {
    socket.destroy(new Error(`Expected a 200 with a length, got ${text.slice(0, 200)}`));
    return undefined;
  }
  return head + 4 + Number(length);
}
