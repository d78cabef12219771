import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { sendData, sendNoContent, sendPage } from '../../../../src/chassis/http/answers/responses.ts';
import { StoredJson, storedPage } from '../../../../src/chassis/query/paging/paging.ts';
import { bareApp } from '../bare-app.ts';

const page = { data: [{ id: 1 }], page: 2, pageSize: 1, total: 3 };

describe('responses', () => {
  it('carry data with its length and without an etag', async () => {
    const { status, headers, text } = await request(bareApp([(_req, res) => sendData(res, 201, { name: 'ü' })])).post(
      '/',
    );
    expect(status).toBe(201);
    expect(text).toBe('{"success":true,"data":{"name":"ü"}}');
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
    expect(headers).not.toHaveProperty('etag');
  });

  it('carry a page with its four values and links to the pages around it', async () => {
    const app = bareApp([(req, res) => sendPage(req, res, page)]);
    const { headers, text } = await request(app).get('/products/paginated?page=2&pageSize=1');
    expect(text).toBe('{"success":true,"data":[{"id":1}],"page":2,"pageSize":1,"total":3}');
    for (const relation of ['first', 'prev', 'next', 'last']) expect(headers.link).toContain(`rel="${relation}"`);
  });

  it('carry the next cursor of cursor paging, also when it is null', async () => {
    const app = bareApp([(req, res) => sendPage(req, res, { ...page, total: null, nextCursor: null })]);
    expect((await request(app).get('/x?cursor=')).body).toMatchObject({ total: null, nextCursor: null });
  });

  it('carry nothing at all with 204', async () => {
    const { status, text } = await request(bareApp([(_req, res) => sendNoContent(res)])).delete('/');
    expect([status, text]).toEqual([204, '']);
  });

  it('write a big integer as a string, with all its digits', async () => {
    const data = [{ id: 9_007_199_254_740_993n, at: new Date(0), list: [1n, null] }];
    const { body } = await request(bareApp([(_req, res) => sendData(res, 200, data)])).get('/');
    expect(body.data).toEqual([{ id: '9007199254740993', at: '1970-01-01T00:00:00.000Z', list: ['1', null] }]);
  });

  it('hold the same bytes for all who share long records, so that hundreds of equal ones fit the memory', async () => {
    const records = [{ id: 'ü'.repeat(20_000) }];
    const list = Object.assign(
      new StoredJson(
        records.map((record) => JSON.stringify(record)),
        true,
      ),
      { records, load: async () => undefined },
    );
    const bodies: unknown[] = [];
    const app = bareApp([
      (_req, res, next) => {
        const { end } = res;
        res.end = ((body: unknown) => {
          bodies.push(body);
          return Reflect.apply(end, res, [body]);
        }) as typeof end;
        next();
      },
      (req, res) => {
        const total = Number(req.query['total'] ?? 0);
        if (total === 0) sendData(res, 200, list);
        else sendPage(req, res, storedPage(list, { page: 1, pageSize: 1, total }));
      },
    ]);
    for (const path of ['/', '/', '/?total=1', '/?total=1']) {
      const { body, headers, text } = await request(app).get(path);
      expect(body.data).toEqual(records);
      expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
    }
    expect((await request(app).get('/?total=2')).body).toMatchObject({ data: records, total: 2 });
    const [one, two, three, four, other] = bodies;
    expect(one).toBeInstanceOf(Buffer);
    expect([one === two, two === three, three === four, four === other]).toEqual([true, false, true, false]);
  });

  it('are a failure when the data cannot be written as JSON', async () => {
    const cyclic: Record<string, unknown> = { id: 1n };
    cyclic.self = cyclic;
    const { status, body } = await request(bareApp([(_req, res) => sendData(res, 200, cyclic)])).get('/');
    expect([status, body.success]).toEqual([500, false]);
  });
});
