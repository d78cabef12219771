import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { boundedRequest } from '../../../../src/chassis/http/bodies/request-body.ts';
import { connectionCutter } from '../../../../src/chassis/lifecycle/cut-connections.ts';
import { ConnectionMetrics } from '../../../../src/chassis/telemetry/metrics/connection-metrics.ts';
import { memoryLog } from '../bare-app.ts';
import { listening } from '../listening.ts';

/** A server whose requests are bounded, the chunks that came out of its parser, and what it logged and counted. */
async function serve(listener: RequestListener) {
  const { logger, lines } = memoryLog();
  const metrics = new ConnectionMetrics();
  const seen = { chunks: 0 };
  const Bounded = boundedRequest(connectionCutter({ logger, metrics }));
  class Request extends Bounded {
    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      seen.chunks += 1;
      return super.push(chunk, encoding);
    }
  }
  const server = await listening(createServer({ IncomingMessage: Request }, listener));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { port: server.port, lines, metrics, seen };
}

function send(port: number, ...pieces: string[]) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  for (const piece of pieces) socket.write(piece);
  return socket;
}

const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = (length: number, extension = '') => `${length.toString(16)}${extension}\r\n${'x'.repeat(length)}\r\n`;
const end = '0\r\n\r\n';
const answersLength = async (req: IncomingMessage, res: { end(body: string): void }) =>
  res.end(`${(await buffer(req)).length};`);

describe('a body in too many small chunks', () => {
  it.each<[string, RequestListener]>([
    ['that nobody reads', () => undefined],
    ['that is read', (req) => void buffer(req).catch(() => undefined)],
    ['that is left unread by its answer', (_req, res) => void res.writeHead(404).end()],
    ['that is thrown away', (req) => void req.resume()],
  ])('%s has its connection cut, and what else came with it is not even parsed', async (_what, listener) => {
    const { port, lines, metrics, seen } = await serve(listener);
    const socket = send(port, head).resume();
    await once(socket, 'connect');
    socket.write(chunk(1).repeat(20_000));
    await expect.poll(() => socket.closed).toBe(true);
    expect(seen.chunks).toBeGreaterThan(500);
    expect(seen.chunks).toBeLessThan(522);
    expect(lines).toMatchObject([
      { reason: 'chunks', cut: 1, msg: 'connections cut: request bodies in too many small chunks' },
    ]);
    const counted = metrics.families.find(({ name }) => name === 'http_connections_cut_total')?.samples();
    expect(counted).toContainEqual({ labels: expect.stringContaining('chunks'), value: 1 });
  });

  it('is cut sooner where it is thrown away, whose client is charged for nothing more', async () => {
    const { port, seen } = await serve((_req, res) => void res.writeHead(404).end());
    const socket = send(port, head, chunk(64).repeat(5_000)).resume();
    await expect.poll(() => socket.closed).toBe(true);
    expect(seen.chunks).toBeLessThan(600);
  });

  it('is cut whatever came before it in a large one, and whatever its chunks carry beside', async () => {
    const { port, seen } = await serve((req) => void req.resume());
    const socket = send(port, head, chunk(65_536), chunk(1, `;${'e'.repeat(100)}`).repeat(2_000)).resume();
    await expect.poll(() => socket.closed).toBe(true);
    expect(seen.chunks).toBeGreaterThan(500);
    expect(seen.chunks).toBeLessThan(550);
  });
});

describe('a body', () => {
  it.each([
    ['500 chunks of one byte', chunk(1).repeat(500), 500],
    ['20,000 short lines', chunk(64).repeat(20_000), 1_280_000],
    ['small chunks and large ones in turn', (chunk(1).repeat(500) + chunk(32_768)).repeat(20), 665_360],
  ])('of %s comes in whole', async (_what, chunks, length) => {
    const { port, lines } = await serve(answersLength);
    expect(await text(send(port, head, chunks, end))).toContain(`\n${length};`);
    expect(lines).toEqual([]);
  });
});
