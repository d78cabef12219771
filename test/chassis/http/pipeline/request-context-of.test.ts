import express from 'express';
import { describe, expect, it } from 'vitest';
import { noAnswerHeaders } from '../../../../src/chassis/http/answers/answer-headers.ts';
import { requestSignal } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { createHttpServer } from '../../../../src/chassis/lifecycle/listen.ts';
import { memoryLog } from '../bare-app.ts';
import { listening } from '../listening.ts';

const refusal = { headers: noAnswerHeaders, logger: memoryLog().logger };
const times = { HTTP_HEADERS_TIMEOUT_MS: 10_000, HTTP_RECEIVE_TIMEOUT_MS: 60_000, HTTP_KEEP_ALIVE_TIMEOUT_MS: 5000 };

describe('requestSignal', () => {
  it('aborts when the client goes, and not before', async () => {
    const app = express();
    requestSignal(app);
    const { promise: asked, resolve } = Promise.withResolvers<AbortSignal>();
    app.use(requestPipeline(), (req) => resolve(req.signal));
    await using server = await listening(createHttpServer(app, times, refusal));
    const client = new AbortController();
    const answer = fetch(`http://127.0.0.1:${server.port}`, { signal: client.signal });
    const signal = await asked;
    expect(signal.aborted).toBe(false);
    client.abort();
    await expect(answer).rejects.toThrow('aborted');
    await expect.poll(() => signal.aborted).toBe(true);
  });
});
