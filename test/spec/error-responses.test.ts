import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  BaseException,
  DatabaseException,
  InternalServerErrorException,
  logReporter,
  monitorReporter,
  NotFoundException,
  type Reporter,
  type RequestContext,
} from '../../src/chassis/index.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const reported: { exception: BaseException; context: RequestContext | undefined }[] = [];
const recorder: Reporter = { report: (exception, context) => void reported.push({ exception, context }) };
const failing: Reporter = {
  report() {
    throw new Error('the reporter is down');
  },
};

const app = await bootTestApp({
  modulesDirectory: join(import.meta.dirname, '../fixtures/modules'),
  reporters: [failing, recorder],
  configure: (config) => ({ ...config, modules: [{ name: 'failures', enabled: true, routesPrefix: '/fail' }] }),
});

describe('spec.md: Error response body', () => {
  it('every failure has success, message, statusCode and timestamp; details only when the exception has them', async () => {
    const { body } = await app.get('/fail/not-found').expectError(404, 'No such thing');
    expect(Object.keys(body).sort()).toEqual(['message', 'statusCode', 'success', 'timestamp']);
    await app.get('/fail/details').expectError(409, 'Conflict', { field: 'name' });
  });

  it('rule 1: outside production a server error keeps its message and details', async () => {
    await app.get('/fail/server-error').expectError(500, 'the disk is full', { disk: '/dev/sda1' });
  });

  it('rules 2 and 5: a body that fails its schema is a ValidationException with a map of field to messages', async () => {
    const response = await app.post('/fail/body', { name: '', extra: 1 }).expectError(400, 'Validation Failed');
    expect(Object.keys(response.body.details.errors).sort()).toEqual(['extra', 'name']);
    for (const messages of Object.values(response.body.details.errors)) {
      expect(messages).toEqual(expect.arrayContaining([expect.any(String)]));
    }
  });

  it('rule 5: any other validation failure is a BadRequestException "Invalid request data"', async () => {
    await app.get('/fail/zod').expectError(400, 'Invalid request data');
  });

  it('rule 3: a missing record gives 404, a duplicate 409', async () => {
    await app.get('/fail/not-found').expectError(404, 'No such thing');
    await app.get('/fail/details').expectError(409, 'Conflict');
  });

  it('rule 7: database errors raised inside repositories become exceptions', async () => {
    await app.get('/fail/duplicate').expectError(409, /.+/);
    await app.get(`/fail/missing/${randomUUID()}`).expectError(404, /.+/);
  });
});

describe('spec.md: Handling and logging', () => {
  it('rules 1 and 4: reporters get the exception and the request context, and one that fails changes nothing', async () => {
    reported.length = 0;
    await app
      .send((server) => server.get('/fail/not-found?x=1').set('User-Agent', 'spec').set('X-Request-Id', 'abc-1'))
      .expectError(404, 'No such thing');
    expect(reported).toHaveLength(1);
    expect(reported[0]?.exception).toMatchObject({ name: 'NotFoundException', statusCode: 404 });
    expect(reported[0]?.exception.context).toMatchObject({
      method: 'GET',
      userAgent: 'spec',
      ipAddress: expect.any(String),
    });
    expect(reported[0]?.context).toMatchObject({ requestId: 'abc-1', method: 'GET', userAgent: 'spec' });
    expect(reported[0]?.context?.url).toContain('/fail/not-found');
  });

  it.each([
    ['a string', 'string'],
    ['null', 'null'],
    ['undefined', 'undefined'],
    ['an object without a prototype', 'bare'],
    ['a frozen error', 'frozen'],
  ])('rules 1 and 7: %s that is thrown becomes a 500 that is not operational', async (_case, path) => {
    reported.length = 0;
    const { body } = await app.get(`/fail/thrown/${path}`);
    expect(body).toMatchObject({ success: false, statusCode: 500 });
    expect(reported[0]?.exception.isOperational).toBe(false);
  });

  it('rule 2: a client error is logged as a warning, a server error as an error', async () => {
    const lines: Record<string, string>[] = [];
    const log = (level: string) => (line: object, msg: string) => void lines.push({ ...line, level, msg } as never);
    const reporter = logReporter({ warn: log('warn'), error: log('error') });
    for (const status of [400, 404, 499]) reporter.report(new BaseException('client', status), undefined);
    for (const status of [500, 503]) reporter.report(new BaseException('server', status), undefined);
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn', 'error', 'error']);
  });

  it('rule 4: one reporter forwards only what is not operational, another logs all', () => {
    const forwarded: BaseException[] = [];
    const monitor = monitorReporter({ capture: (exception) => void forwarded.push(exception) });
    const fault = new InternalServerErrorException();
    for (const exception of [new NotFoundException(), new DatabaseException(), fault])
      monitor.report(exception, undefined);
    expect(forwarded).toEqual([fault]);
  });

  it('rule 3: a rejected promise of an async handler reaches the error handler', async () => {
    await app.get('/fail/rejected').expectError(403, 'Forbidden');
  });
});

describe('the edge of the service', () => {
  it.each<[string, number, (server: Parameters<Parameters<typeof app.send>[0]>[0]) => import('supertest').Test]>([
    ['JSON that is none', 400, (server) => server.post('/fail/body').type('json').send('{"name":')],
    ['a body that is too large', 413, (server) => server.post('/fail/body').send({ name: 'x'.repeat(1_100_000) })],
    [
      'a content type that nobody reads',
      415,
      (server) => server.post('/fail/body').type('application/xml').send('<x/>'),
    ],
    [
      'an unknown charset',
      415,
      (server) => server.post('/fail/body').set('Content-Type', 'application/json; charset=klingon').send('{}'),
    ],
    ['a malformed percent-encoding in the path', 400, (server) => server.get('/fail/missing/%E0%A4%A')],
    ['a repeated query parameter', 400, (server) => server.get('/fail/query?page=1&page=2')],
    [
      'a __proto__ key in the body',
      400,
      (server) => server.post('/fail/body').type('json').send('{"__proto__":{"x":1},"name":"a"}'),
    ],
    ['an unknown route', 404, (server) => server.get('/nowhere')],
  ])('%s is %i in the one body', async (_case, status, build) => {
    await app.send(build).expectError(status, /.+/);
  });

  it.each([
    ['a NUL character', 'a\u0000b'],
    ['half of a surrogate pair', '\ud800'],
  ])('text with %s is refused with its field, for no database stores it as it is', async (_case, name) => {
    const { body } = await app.post('/fail/body', { name }).expectError(400, 'Validation Failed');
    expect(Object.keys(body.details.errors)).toEqual(['name']);
  });

  it.each(['/livez', '/readyz', '/api-docs', '/api-docs.json'])('%s takes GET only: 405', async (path) => {
    expect((await app.post(path).expectError(405, /.+/)).headers.allow).toBe('GET, HEAD');
  });

  it('a known path with another method is 405 and names the methods that do', async () => {
    const response = await app.delete('/fail/body').expectError(405, /.+/);
    expect(response.headers.allow).toBe('POST');
  });
});
