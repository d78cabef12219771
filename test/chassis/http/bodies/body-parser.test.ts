import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import fc from 'fast-check';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { getRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { UnauthorizedException } from '../../../../src/chassis/errors/exceptions.ts';
import { bodyParser } from '../../../../src/chassis/http/bodies/body-parser.ts';
import { rawBody } from '../../../../src/chassis/http/bodies/raw-bodies.ts';
import { requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp, echoBody } from '../bare-app.ts';
import { listening, sendRaw } from '../listening.ts';

const app = bareApp([bodyParser({ limitBytes: 1_000 }), echoBody]);
const form = 'application/x-www-form-urlencoded';

function post(type: string, body: string | Buffer) {
  return request(app)
    .post('/')
    .set('content-type', type)
    .serialize((text) => text)
    .send(body as string);
}

describe('bodyParser', () => {
  it.each([
    ['application/json', '{"a":[1,"x"]}', { a: [1, 'x'] }],
    ['application/json; charset=utf-8', '{"a":"ü"}', { a: 'ü' }],
    ['application/merge-patch+json', '{"a":null}', { a: null }],
    ['APPLICATION/JSON', '{}', {}],
    [form, 'a=1&b=x+y%26z&c', { a: '1', b: 'x y&z', c: '' }],
  ])('reads %s', async (type, body, parsed) => {
    const response = await post(type, body);
    expect(response.body).toEqual({ body: parsed });
  });

  it.each([
    ['JSON that ends early', 'application/json', '{"a":', 400, /^The request body is not valid JSON/],
    ['JSON that is none', 'application/json', 'hello', 400, /^The request body is not valid JSON/],
    ['a form with malformed percent-encoding', form, 'a=%zz', 400, /malformed percent-encoding/],
    ['a body that is too large', 'application/json', `"${'x'.repeat(1_000)}"`, 413, /larger than 1000 bytes/],
    ['a form that is too large', form, 'x'.repeat(1_001), 413, /larger than 1000 bytes/],
    ['an unknown charset', 'application/json; charset=klingon', '{}', 415, /Character set "klingon" is not supported/],
    ['an unknown charset of a form', `${form}; charset=klingon`, 'a=1', 415, /Character set "klingon"/],
    ['another type', 'text/plain', 'hello', 415, /found "text\/plain"/],
    ['a type that is none', '???', 'hello', 415, /found "\?\?\?"/],
    ['XML', 'application/xml', '<a/>', 415, /found "application\/xml"/],
  ])('refuses %s', async (_what, type, body, status, message) => {
    const response = await post(type, body);
    expect(response.status).toBe(status);
    expect(response.body).toMatchObject({
      success: false,
      statusCode: status,
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ['{"__proto__":{"admin":true}}'],
    ['{"a":[{"__proto__":1}]}'],
    ['{"\\u005f_proto__":1}'],
    ['{"constructor":{"prototype":{"a":1}}}'],
    ['['.repeat(60) + ']'.repeat(60)],
    [`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`],
  ])('refuses the poisoned or too deep JSON %s', async (body) => {
    const response = await post('application/json', body);
    expect(response.status).toBe(400);
    expect(response.body.message).toMatch(/refused|nests deeper/);
  });

  it.each([
    ['nested lists', `{"a":[${'[[[[]]]],'.repeat(12_000)}1]}`],
    ['fields', `{${Array.from({ length: 30_000 }, (_, index) => `"f${index}":1`).join()}}`],
    ['numbers that never end', `[${'1,'.repeat(60_000)}`],
  ])('refuses JSON of more than 50,000 values before it is parsed: %s', async (_what, body) => {
    const wide = bareApp([bodyParser({ limitBytes: 1_000_000 }), echoBody]);
    const { status, body: answer } = await request(wide)
      .post('/')
      .set({ 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .serialize((sent) => sent)
      .send(gzipSync(body) as unknown as string);
    expect([status, answer.message]).toEqual([
      413,
      'The request body holds more than 50000 values; send several requests',
    ]);
  });

  it.each([
    ['of one object', (names: string[]) => `{${names.map((name) => `"${name}":0`).join()}}`],
    ['of many objects', (names: string[]) => `[${names.map((name) => `{"${name}" : 0}`).join()}]`],
  ])('refuses JSON of more than 2,000 different names before it is parsed: %s', async (_of, write) => {
    const wide = bareApp([bodyParser({ limitBytes: 1_000_000 }), (_req, res) => void res.json('taken')]);
    const ask = (names: string[]) => request(wide).post('/').type('json').send(write(names));
    // A name may be made of escapes alone.
    const digits = ['\\n', '\\t', '\\r', '\\b', '\\f'];
    const nameOf = (index: number) =>
      Array.from(index.toString(5).padStart(6, '0'), (digit) => digits[Number(digit)]).join('');
    const names = Array.from({ length: 2001 }, (_, index) => nameOf(index));
    const { status, body } = await ask(names);
    expect([status, body.message]).toEqual([
      413,
      'The request body holds more than 2000 different names; send several requests',
    ]);
    expect((await ask([...names.slice(0, 2000), ...names.slice(0, 2000)])).status).toBe(200);
  });

  it('takes as many commas and brackets as it likes inside of texts, and a thousand records', async () => {
    const wide = bareApp([bodyParser({ limitBytes: 1_000_000 }), (req, res) => void res.json(Object.keys(req.body))]);
    const record = Object.fromEntries(Array.from({ length: 24 }, (_, index) => [`f${index}`, index]));
    for (const body of [{ text: '",[{\\'.repeat(60_000) }, { list: Array.from({ length: 1_000 }, () => record) }]) {
      expect((await request(wide).post('/').send(body)).body).toEqual(Object.keys(body));
    }
  });

  it('takes a field that is called constructor', async () => {
    expect((await post('application/json', '{"constructor":"x"}')).status).toBe(200);
  });

  it.each([['__proto__=1'], ['a=1&a=2'], ['%5f_proto__=1']])('refuses the form %s', async (body) => {
    const response = await post(form, body);
    expect(response.status).toBe(400);
    expect(response.body.message).toBe('Invalid request data');
  });

  it('reads compressed bodies, counts them decompressed, and refuses damaged ones', async () => {
    const send = (body: Buffer, encoding: string) => post('application/json', body).set('content-encoding', encoding);
    expect((await send(gzipSync('{"a":1}'), 'gzip')).body).toEqual({ body: { a: 1 } });
    expect((await send(gzipSync(`"${'x'.repeat(100_000)}"`), 'gzip')).status).toBe(413);
    const damaged = await send(Buffer.from('no gzip'), 'gzip');
    expect([damaged.status, damaged.body.message]).toEqual([400, 'The request body cannot be decompressed']);
  });

  it.each(['rot13', 'constructor', '__proto__', 'toString'])('refuses a body in the encoding %s', async (encoding) => {
    const { status, body } = await post('application/json', '{"a":1}').set('content-encoding', encoding);
    expect([status, body.message]).toEqual([
      415,
      expect.stringContaining(`"${encoding.toLowerCase()}" is not supported`),
    ]);
  });

  it('lets requests without a body pass whatever their type', async () => {
    expect((await request(app).post('/').set('content-type', 'text/plain')).body).toEqual({ body: null });
    expect((await request(app).get('/')).body).toEqual({ body: null });
  });

  it('lets multipart bodies pass to the routes that take uploads, and bodies of GET and DELETE unread', async () => {
    expect((await post('multipart/form-data; boundary=x', '--x--')).body).toEqual({ body: null });
    expect((await request(app).delete('/').set('content-type', 'text/plain').send('x')).status).toBe(200);
  });

  it('refuses a body without a type', async () => {
    await using server = await listening(createServer(app));
    const answer = await sendRaw(
      server.port,
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 415 .*found no Content-Type/s);
  });

  it('never quotes the body in its answer', async () => {
    const response = await post('application/json', '{"password": hunter2}');
    expect(response.status).toBe(400);
    expect(response.text).not.toContain('hunter2');
  });

  it.each([
    ['of JSON', 'application/json', `{"a":"${'x'.repeat(899_992)}"}`, 300],
    ['of a form', form, `a=${'x'.repeat(899_998)}`, 300],
    ['that is refused for what it holds', 'application/json', `["${'x'.repeat(899_996)}"${'['.repeat(50_001)}`, 316],
    ['that is no UTF-8', 'application/json', Buffer.alloc(900_000, 0xff), 300],
    ['of a usual size', 'application/json', `{"a":"${'x'.repeat(4_000)}"}`, 0],
  ])('charges the request for a body %s, before it is looked at', async (_what, type, body, cost) => {
    const charges: number[] = [];
    const watch: RequestHandler = (_req, _res, next) => {
      getRequestContext()?.onCharge?.((charged) => charges.push(charged));
      next();
    };
    const charging = bareApp([requestPipeline(), watch, bodyParser({ limitBytes: 1_000_000 }), echoBody]);
    await request(charging)
      .post('/')
      .set('content-type', type)
      .serialize((sent) => sent)
      .send(body as string);
    expect(Math.floor(charges[0] ?? 0)).toBe(cost);
  });

  it.each([
    ['that becomes too large', gzipSync(' '.repeat(2_000_000)), 413, 333],
    ['that is damaged', gzipSync(' '.repeat(900_000)).subarray(0, -4), 400, 333],
    ['that is checked as it was sent', gzipSync(' '.repeat(900_000)), 401, 300],
    ['that becomes nothing', Buffer.concat(Array<Buffer>(45_000).fill(gzipSync(''))), 401, 300],
  ])('charges the request for a compressed body %s, of which nothing is parsed', async (_what, body, status, cost) => {
    let charged = 0;
    const watch: RequestHandler = (_req, _res, next) => {
      getRequestContext()?.onCharge?.((more) => {
        charged += more;
      });
      next();
    };
    const refuse: RequestHandler = async (req) => {
      expect([0, 900_000]).toContain((await rawBody(req)).length);
      throw new UnauthorizedException('Not signed');
    };
    const parser = bodyParser({ limitBytes: 1_000_000, isRaw: () => true });
    const charging = bareApp([requestPipeline(), watch, parser, refuse]);
    const response = await request(charging)
      .post('/')
      .set({ 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .serialize((sent) => sent)
      .send(body as unknown as string);
    expect(response.status).toBe(status);
    expect(Math.floor(charged)).toBe(cost);
  });

  it('answers any bytes of any readable type with 200 or a 4xx', async () => {
    const types = fc.constantFrom(
      'application/json',
      'application/json;charset=utf-16',
      'application/json;charset="',
      form,
      `${form};charset=latin1`,
    );
    await using server = await listening(createServer(app));
    await fc.assert(
      fc.asyncProperty(
        types,
        fc.oneof(fc.json(), fc.string({ unit: 'binary' }), fc.uint8Array()),
        async (type, body) => {
          const url = `http://127.0.0.1:${server.port}/`;
          const { status } = await fetch(url, {
            method: 'POST',
            body: body as string,
            headers: { 'content-type': type },
          });
          expect(status === 200 || (status >= 400 && status < 500)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});
