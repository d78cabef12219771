import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { getRequestContext } from '../../../../src/chassis/context/request-context.ts';
import type { RequestObserver, RequestOutcome } from '../../../../src/chassis/context/request-observer.ts';
import { requestContextOf } from '../../../../src/chassis/http/pipeline/request-context-of.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp } from '../bare-app.ts';

const app = bareApp([
  requestPipeline(),
  async (req, res) => {
    await Promise.resolve();
    res.json({ context: getRequestContext(), same: getRequestContext() === requestContextOf(req) });
  },
]);

describe('requestPipeline', () => {
  it('runs the rest of the request in its context', async () => {
    const { body } = await request(app).get('/a/b?c=1').set('user-agent', 'test');
    expect(body).toEqual({
      context: {
        requestId: expect.any(String),
        method: 'GET',
        url: '/a/b?c=1',
        userAgent: 'test',
        ipAddress: expect.stringContaining('127.0.0.1'),
        startTime: expect.any(String),
      },
      same: true,
    });
  });

  it.each([
    ['/livez', true],
    ['/readyz/?x=1', true],
    ['/LIVEZ', undefined],
    ['/readyz/all', undefined],
  ])('says of %s whether it is a probe: %s', async (path, isProbe) => {
    expect((await request(app).get(path)).body.context.isProbe).toBe(isProbe);
  });

  it('tells observers the status that the client got, and 499 where it went before there was one', async () => {
    const outcomes: RequestOutcome[] = [];
    const observer: RequestObserver = { closed: (_context, _req, _res, outcome) => void outcomes.push(outcome) };
    const observed = bareApp([
      requestPipeline({ observers: [observer] }),
      (req, res) => void (req.path === '/gone' ? req.socket.destroy() : res.status(202).end()),
    ]);
    await request(observed).get('/here');
    await expect(request(observed).get('/gone')).rejects.toThrow();
    await expect
      .poll(() => outcomes)
      .toMatchObject([
        { status: 202, aborted: false },
        { status: 499, aborted: true },
      ]);
  });

  it.each(['a', 'A-1._', 'x'.repeat(128)])('takes the inbound request id %s', async (id) => {
    const { headers } = await request(app).get('/').set('x-request-id', id);
    expect(headers['x-request-id']).toBe(id);
  });

  it.each(['', 'x'.repeat(129), 'a b', 'a/b', 'ä'])('makes an id in the place of "%s"', async (id) => {
    const { headers, body } = await request(app).get('/').set('x-request-id', id);
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.context.requestId).toBe(headers['x-request-id']);
  });

  it('keeps at most 2,048 characters of the URL', async () => {
    const { body } = await request(app).get(`/?q=${'x'.repeat(5_000)}`);
    expect(body.context.url).toHaveLength(2_048);
  });

  it.each(['/%zz', '/%', '/a/%E0%A4%A/b', '/%ff?x=1'])('answers the malformed path %s with 400', async (path) => {
    const response = await request(app).get(path);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ success: false, message: 'The URL holds malformed percent-encoding' });
    expect(response.headers['x-request-id']).toBeDefined();
  });

  it('masks secrets in the URL and in the user agent, once for logs, spans and monitors', async () => {
    const { body } = await request(app).get('/a?sid=hidden').set('user-agent', 'shop/1.0 password=hidden');
    expect(body.context).toMatchObject({ url: '/a?sid=[redacted]', userAgent: 'shop/1.0 password=[redacted]' });
  });

  it('keeps at most 512 characters of the user agent', async () => {
    const { body } = await request(app).get('/a').set('user-agent', 'x'.repeat(5000));
    expect(body.context.userAgent).toBe('x'.repeat(512));
  });

  it('leaves the query to those who read it', async () => {
    expect((await request(app).get('/%20?x=%zz')).status).toBe(200);
  });
});
