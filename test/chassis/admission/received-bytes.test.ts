import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ReceivedBytes } from '../../../src/chassis/admission/received-bytes.ts';
import { listening } from '../http/listening.ts';

const megabyte = 1_048_576;

/** A server that answers before it has the body, and what its clients were charged with for bytes. */
async function serve() {
  const charged: [client: string, cost: number][] = [];
  const received = new ReceivedBytes({ charge: (client, cost) => void charged.push([client, cost]) });
  const server = createServer((req, res) => {
    received.count(req.socket, String(req.headers['x-client']), performance.now());
    req.resume().on('end', () => res.end('fine'));
  });
  const { port } = await listening(server);
  const socket = connect({ port, host: '127.0.0.1' });
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  const send = async (client: string, length: number, field = '') => {
    socket.write(
      `POST / HTTP/1.1\r\nHost: a\r\nX-Client: ${client}\r\nX-Field: ${field}\r\nContent-Length: ${length}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(length));
    await once(socket, 'data');
  };
  const costOf = (name: string) => charged.reduce((sum, [client, cost]) => sum + (client === name ? cost : 0), 0);
  return { costOf, send, socket };
}

it('charges the client of a request for its body, once the next one comes on its connection', async () => {
  const { costOf, send } = await serve();
  await send('long', megabyte);
  await send('short', 10);
  expect(costOf('long')).toBeGreaterThan(40);
  expect(costOf('long')).toBeLessThan(60);
  expect(costOf('short')).toBeLessThan(1);
});

it('charges for the last body once its connection closes, whether or not all of it came', async () => {
  const { costOf, send, socket } = await serve();
  await send('short', 10);
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nX-Client: long\r\nContent-Length: ${2 * megabyte}\r\n\r\n`);
  socket.end(Buffer.alloc(megabyte));
  await expect.poll(() => costOf('long')).toBeGreaterThan(40);
});

it('charges nobody for what others send on the same connection of a proxy', async () => {
  const { costOf, send } = await serve();
  await send('short', 10);
  for (let count = 0; count < 20; count += 1) {
    await send('other', 0, 'a'.repeat(15_000));
  }
  await send('short', 10);
  expect(costOf('short')).toBe(0);
});
