import process from 'node:process';
import request, { type Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseProvider } from '../../src/chassis/database/client/database-url.ts';
import type { AnyListPolicy } from '../../src/chassis/index.ts';
import { bootTestApp } from '../support/boot-test-app.ts';
import { anyProvider } from '../support/empty-database.ts';
import { shopLists } from '../support/tenant-lists.ts';
import { fillShop, type TenantShop, tenantModels } from '../support/tenant-shop.ts';
import { fillTenant, fillTwoTenants } from '../support/two-tenants.ts';
import { describeTenants } from './describe-tenants.ts';
import { type TenantProbe, tenantProbes } from './tenant-probes.ts';

const provider = (process.env.TEST_PROVIDER as DatabaseProvider | undefined) ?? anyProvider;
const models = await tenantModels();
let shop: TenantShop;
beforeAll(async () => {
  shop = await models.open(provider);
  await fillShop(shop);
});
afterAll(async () => {
  await shop.close();
  models.remove();
});

const tenants = [
  ['a', 'b'],
  ['b', 'a'],
] as const;

/** Asks as an administrator of a tenant. */
function ask(tenant: string, path: string, query: TenantProbe['query'] = {}): Promise<Response> {
  const texts = Object.entries(query).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : value,
  ]);
  return request(shop.app)
    .get(path)
    .query(Object.fromEntries(texts))
    .set('x-caller', `${tenant} ${tenant}-admin admin`) as never;
}

/** All that an answer says: its body without the moment, and the header of its pages. */
function said({ body, headers }: Response): string {
  const { timestamp: _moment, ...rest } = body;
  return JSON.stringify([rest, decodeURIComponent(headers.link ?? '')]);
}

/** The rows of a tenant have ids in hundreds of their own, and texts that name it. */
function expectNothingOf(other: string, text: string, asked: string): void {
  const foreign = other === 'a' ? /"id":1\d\d\b|Id":1\d\d\b/ : /"id":2\d\d\b|Id":2\d\d\b/;
  const withoutQuestion = text.replaceAll(`${other}-`.concat('asked'), '');
  // A foreign key that another program stored is a column of the own row.
  const withoutKeys = withoutQuestion.replaceAll(/"customerId":\d+/g, '');
  expect(withoutKeys, asked).not.toMatch(foreign);
  expect(withoutKeys, asked).not.toContain(`${other}-customer`);
  expect(withoutKeys, asked).not.toContain(`${other}-order`);
  expect(withoutKeys, asked).not.toMatch(new RegExp(`${other}-(line|tag|secret)`));
}

/** Follows a list by its cursors to its end. */
async function follow(tenant: string, path: string, query: TenantProbe['query']): Promise<Response[]> {
  const answers = [await ask(tenant, path, query)];
  for (let cursor = answers[0]?.body.nextCursor; cursor; cursor = answers.at(-1)?.body.nextCursor) {
    answers.push(await ask(tenant, path, { ...query, cursor }));
  }
  return answers;
}

describe.each(Object.entries(shopLists))('%s', (path, list: AnyListPolicy) => {
  it.each(tenants)('tells tenant %s nothing of tenant %s, whatever is asked of it', async (tenant, other) => {
    const own = (await ask(tenant, path)).body.data.length;
    for (const { suffix, query } of tenantProbes(list, `${other}-`)) {
      const asked = `${path}${suffix} ${JSON.stringify(query)}`;
      const answers = await follow(tenant, path + suffix, query);
      for (const answer of answers) {
        expect([asked, answer.status]).toEqual([asked, 200]);
        expectNothingOf(other, said(answer), asked);
        if (suffix !== '' && answer.body.total !== null) expect(answer.body.total, asked).toBeLessThanOrEqual(own);
        const { nextCursor } = answer.body;
        if (typeof nextCursor === 'string') {
          expectNothingOf(other, Buffer.from(nextCursor, 'base64url').toString('latin1'), asked);
          const { status } = await ask(other, path + suffix, { ...query, cursor: nextCursor });
          expect([asked, status]).toEqual([asked, path === '/reviewers' ? 200 : 400]);
        }
      }
      if ('cursor' in query) {
        const seen = answers.flatMap(({ body }) => body.data.map(({ id }: { id: number }) => id));
        expect([asked, seen.length, new Set(seen).size]).toEqual([asked, own, own]);
      }
    }
  });

  it('answers for a record of another tenant as for one that does not exist', async () => {
    if (path === '/reviewers') return expect((await ask('a', '/reviewers/2')).status).toBe(404);
    const find = (id: number) => ask('a', `${path}/${id}`, { include: {} });
    const sent = (method: 'put' | 'delete', id: number) =>
      request(shop.app)
        [method](`${path}/${id}`)
        .send({})
        .set('x-caller', 'a a-admin admin') as unknown as Promise<Response>;
    const id = path === '/lines' ? 210 : 201;
    for (const answers of [
      [await find(id), await find(9999)],
      [await sent('put', id), await sent('put', 9999)],
      [await sent('delete', id), await sent('delete', 9999)],
    ]) {
      const [foreign, missing] = answers as [Response, Response];
      expect(foreign.status).toBe(404);
      expect(said(foreign)).toBe(said(missing));
      expect(Object.keys(foreign.headers).sort()).toEqual(Object.keys(missing.headers).sort());
    }
  });

  it('is refused to who is nobody, where its rows have tenants', async () => {
    const { status, body } = (await request(shop.app).get(path)) as Response;
    expect(status).toBe(path === '/reviewers' ? 200 : 500);
    if (path !== '/reviewers') expect(body.data).toBeUndefined();
  });
});

const service = await bootTestApp();
describeTenants(service, await fillTwoTenants(service, fillTenant));
