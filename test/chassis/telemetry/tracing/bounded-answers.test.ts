import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { exportingSettings } from '../../../support/exporting-settings.ts';
import { headersEcho, tracedApp } from './traced-app.ts';

/** A server that answers each request so. */
async function answering(answer: (res: ServerResponse) => void): Promise<string> {
  const server = createServer((req, res) => void req.resume().on('end', () => answer(res))).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  ['of one byte', 1, 4_000_000],
  // More than the buffers of two sockets take before anybody reads.
  ['of 16 KB', 16_384, 64_000_000],
])('cuts the answer of a collector that goes on in pieces %s', async (_what, length, bytes) => {
  const cut = Promise.withResolvers<number>();
  const collector = await answering((res) => {
    const piece = Buffer.alloc(length, ' ');
    let pieces = 0;
    const go = () => {
      let isTaken = true;
      while (isTaken && pieces < bytes / length) {
        pieces += 1;
        isTaken = res.write(piece);
      }
      if (isTaken) res.end();
    };
    res.on('drain', go).on('close', () => cut.resolve(res.writableFinished ? Number.POSITIVE_INFINITY : pieces));
    go();
  });
  const { url } = await tracedApp(exportingSettings(collector), (_req, res) => void res.end());
  await fetch(`${url}/things/1`);
  expect(await cut.promise).toBeLessThan(bytes / length);
});

it('leaves the answers of others as long as they are', async () => {
  const long = await answering((res) => void res.end('x'.repeat(1_000_000)));
  const { url } = await tracedApp(exportingSettings(await headersEcho()), async (_req, res) => {
    const { get } = await import('node:http');
    get(long, (answer) => answer.pipe(res));
  });
  expect(await (await fetch(`${url}/things/1`)).text()).toHaveLength(1_000_000);
});
