import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import type { RequestHandler } from 'express';
import { describe, expect, it } from 'vitest';
import { timeOutRequests } from '../../../src/chassis/admission/time-out-requests.ts';
import { getRequestContext } from '../../../src/chassis/context/request-context.ts';
import type { Reporter } from '../../../src/chassis/errors/reporters/reporter.ts';
import { AnswerHeaders } from '../../../src/chassis/http/answers/answer-headers.ts';
import { sendData } from '../../../src/chassis/http/answers/responses.ts';
import { bodyParser } from '../../../src/chassis/http/bodies/body-parser.ts';
import { requestListener, requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { Drain } from '../../../src/chassis/lifecycle/drain.ts';
import { LogMasks } from '../../../src/chassis/telemetry/redact.ts';
import { bareApp, memoryLog } from '../http/bare-app.ts';
import { listening } from '../http/listening.ts';

/** A server whose requests time out after 100 ms. */
async function impatient(handler: RequestHandler, reporter?: Reporter) {
  const steps = [requestPipeline(), bodyParser({ limitBytes: 100 }), handler];
  const bare = createServer(bareApp(steps, reporter && { reporters: [reporter] }));
  return timingOut(bare);
}

async function timingOut(bare: Server, logger = memoryLog().logger) {
  const { inFlight } = new Drain(bare);
  const headers = new AnswerHeaders({ others: { 'x-constant': 'yes' } });
  const masks = new LogMasks();
  masks.add('iban');
  const shed: string[] = [];
  const metrics = { shed: (reason: string) => void shed.push(reason) };
  timeOutRequests(bare, 100, { inFlight, production: false, logger, masks, metrics, headers });
  const server = await listening(bare);
  return Object.assign(server, { shed, url: `http://127.0.0.1:${server.port}` });
}

const aborted = () => {
  const signal = getRequestContext()?.signal;
  return new Promise<Event>((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
};

describe('timeOutRequests', () => {
  it('answers a request that waits too long with 503 and has its work end', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<string | undefined>();
    await using server = await impatient(async () => {
      const context = getRequestContext();
      await aborted();
      resolve(context?.abortReason);
    });
    const answer = await fetch(server.url);
    expect([answer.status, answer.headers.get('retry-after'), server.shed]).toEqual([503, '1', []]);
    expect(await answer.json()).toMatchObject({ success: false, statusCode: 503 });
    expect(await ended).toBe('The request took longer than REQUEST_TIMEOUT_MS');
  });

  it('takes an answer that comes too late for no fault', async () => {
    const reported = Promise.withResolvers<string>();
    await using server = await impatient(
      async (_req, res) => {
        await aborted();
        sendData(res, 200, 'late');
      },
      { report: ({ name }) => reported.resolve(name) },
    );
    expect((await fetch(server.url)).status).toBe(503);
    expect(await reported.promise).toBe('RequestAbandonedException');
  });

  it('answers a request that has not begun as all others, with its id and the constant headers, and counts it', async () => {
    const { logger, lines } = memoryLog();
    const neverBegins = requestListener(bareApp([requestPipeline()]), { logger, admits: () => undefined });
    await using server = await timingOut(createServer(neverBegins), logger);
    const { status, headers } = await fetch(`${server.url}/?iban=1`, { headers: { 'x-request-id': 'mine-1' } });
    expect([status, headers.get('x-request-id'), headers.get('x-constant')]).toEqual([503, 'mine-1', 'yes']);
    expect(lines).toMatchObject([{ requestId: 'mine-1', url: '/?iban=[redacted]' }]);
    // It is in no histogram.
    expect(server.shed).toEqual(['timeout']);
  });

  it('cuts no answer that has begun', async () => {
    await using server = await impatient(async (_req, res) => {
      res.write('begun, ');
      const { promise, resolve } = Promise.withResolvers<void>();
      setTimeout(resolve, 300);
      await promise;
      res.end('done');
    });
    expect(await (await fetch(server.url)).text()).toBe('begun, done');
  });

  it('does not count the time in which the client still sends', async () => {
    await using server = await impatient((_req, res) => void res.json({}));
    const socket = connect(server.port, '127.0.0.1');
    socket.write(
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{',
    );
    setTimeout(() => socket.write('}'), 300);
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });
});
