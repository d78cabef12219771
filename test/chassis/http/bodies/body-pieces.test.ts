import { randomBytes } from 'node:crypto';
import { Agent, createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { messagesOf } from '../../../../src/chassis/http/answers/answer-headers.ts';
import { bodyParser } from '../../../../src/chassis/http/bodies/body-parser.ts';
import { giveBack } from '../../../../src/chassis/http/bodies/body-pieces.ts';
import { rawBody } from '../../../../src/chassis/http/bodies/raw-bodies.ts';
import { boundedRequest } from '../../../../src/chassis/http/bodies/request-body.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp } from '../bare-app.ts';
import { listening } from '../listening.ts';

/** Sends a body to an app, and tells of each piece in which it came in what is left of it behind the answer. */
async function piecesBehind(
  body: string | Buffer,
  handler: RequestHandler,
  { isRaw = false, encoding = 'identity', isRead = true, late = 0, chunk = 0 } = {},
) {
  const pieces: Buffer[] = [];
  let received = 0;
  const Request = boundedRequest(() => undefined);
  const { push } = Request.prototype;
  Request.prototype.push = function noted(piece: Buffer | null, encodingOfPiece?: BufferEncoding) {
    if (piece) pieces.push(piece);
    received += piece?.length ?? 0;
    return push.call(this, piece, encodingOfPiece);
  };
  const parser = bodyParser({ limitBytes: 1_000_000, isRaw: () => isRaw });
  const app = bareApp([requestPipeline(), ...(isRead ? [parser] : []), handler]);
  await using server = await listening(createServer(messagesOf(app, Request), app));
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const req = request({ port: server.port, host: '127.0.0.1', method: 'POST', agent });
  req.setHeader('content-type', 'application/json').setHeader('content-encoding', encoding);
  if (chunk === 0) req.setHeader('content-length', body.length + late).write(body);
  else for (let at = 0; at < body.length; at += chunk) req.write(body.slice(at, at + chunk));
  if (late === 0) req.end();
  const answer = await new Promise<string>((resolve, reject) => {
    req.on('response', (res) => void text(res).then(resolve, reject)).on('error', reject);
  });
  if (late > 0) req.end('x'.repeat(late));
  await expect.poll(() => received).toBe(body.length + late);
  return { answer, left: () => pieces.filter((piece) => piece.length > 0).length, pieces };
}

const lengthOf: RequestHandler = (req, res) => void res.send(String(req.body.x.length));
const textOf = (length: number) => JSON.stringify({ x: 'ab '.repeat(length / 3) });

describe('the memory of a body', () => {
  it.each([
    ['of one piece', 30_000],
    ['of many pieces', 900_000],
  ])('%s is given back once its text has been read', async (_what, length) => {
    const { answer, left, pieces } = await piecesBehind(textOf(length), lengthOf);
    expect(answer).toBe(String(length));
    expect(left()).toBe(0);
    expect(pieces.every(({ buffer }) => (buffer as ArrayBuffer).detached)).toBe(true);
  });

  it('in chunks of half a kilobyte is given back too', async () => {
    const { answer, left, pieces } = await piecesBehind(textOf(90_000), lengthOf, { chunk: 513 });
    expect(answer).toBe('90000');
    expect(pieces.length).toBeGreaterThan(170);
    // The last chunk is shorter, and so are both parts of one that two reads brought.
    expect(left()).toBeLessThan(10);
  });

  it('is given back once it was decompressed', async () => {
    const noise = randomBytes(60_000).toString('base64');
    const { answer, left } = await piecesBehind(gzipSync(JSON.stringify({ x: noise })), lengthOf, { encoding: 'gzip' });
    expect(answer).toBe(String(noise.length));
    expect(left()).toBe(0);
  });

  it('is given back where it is refused', async () => {
    const { answer, left } = await piecesBehind(`${textOf(300_000).slice(0, -1)},`, lengthOf);
    expect(answer).toContain('not valid JSON');
    expect(left()).toBe(0);
  });

  it('that comes in behind the answer is given back', async () => {
    const refuse: RequestHandler = (_req, res) => void res.status(404).send('none');
    const { answer, left, pieces } = await piecesBehind('x'.repeat(10_000), refuse, { isRead: false, late: 50_000 });
    expect(answer).toBe('none');
    expect(pieces.length).toBeGreaterThan(1);
    expect(left()).toBe(1);
  });

  it('stays as it is where a route asks for the bytes', async () => {
    const look: RequestHandler = (req, res, next) => {
      rawBody(req).then((bytes) => void res.send(bytes.toString().slice(0, 9) + bytes.length), next);
    };
    const { answer } = await piecesBehind(textOf(30_000), look, { isRaw: true });
    expect(answer).toBe('{"x":"ab 30008');
  });

  it('that it shares with others stays as it is', () => {
    const shared = Buffer.from(new ArrayBuffer(20_000), 0, 10_000);
    giveBack(shared);
    giveBack(Buffer.from('short'));
    expect(shared.length).toBe(10_000);
    const own = Buffer.from(new ArrayBuffer(20_000));
    giveBack(own);
    giveBack(own);
    expect(own.length).toBe(0);
  });
});
