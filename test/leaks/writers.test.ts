import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import type { Express } from 'express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pick, randomNumbers } from '../../prisma/seed/random.ts';
import type { DatabaseProvider } from '../../src/chassis/database/client/database-url.ts';
import { anyProvider } from '../support/empty-database.ts';
import { fillShop, type TenantShop, tenantModels } from '../support/tenant-shop.ts';

const provider = (process.env.TEST_PROVIDER as DatabaseProvider | undefined) ?? anyProvider;
/** How many writes each writer does; the reads are many times as many. */
const writes = Number(process.env.WRITES ?? 25);

const models = await tenantModels();
let shops: TenantShop[];
let servers: Server[];
let urls: { json: string; orm: string };

beforeAll(async () => {
  const shop = await models.open(provider);
  await fillShop(shop);
  await fillArchive(shop);
  shops = [await shop.byOrm(), shop];
  servers = await Promise.all(shops.map(({ app }) => listen(app)));
  const [orm = '', json = ''] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  urls = { json, orm };
});
afterAll(async () => {
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  for (const shop of shops) await shop.close();
  models.remove();
});

/** Orders that nobody changes, so many that a list takes long enough for a write to come while it is read. */
function fillArchive({ all }: TenantShop): Promise<unknown> {
  const archive = Array.from({ length: 6000 }, (_, n) => {
    const [tenantId, base] = n % 2 ? ['a', 100] : ['b', 200];
    const ownerId = `${tenantId}-admin`;
    return { id: 1000 + n, tenantId, ownerId, number: `${tenantId}-archive ${n}`, customerId: base + 1 };
  });
  return all((client) => client.order.createMany({ data: archive }));
}

function listen(app: Express): Promise<Server> {
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server));
  });
}

type Order = Record<'id' | 'version' | 'customerId', number> & Record<'number' | 'status', string>;
type Tenant = 'a' | 'b';

async function send(tenant: Tenant, url: string, method = 'GET', body?: object) {
  const headers = { 'x-caller': `${tenant} ${tenant}-admin admin`, 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, text: await response.text() };
}

/** What everybody asks, so that reads of both tenants are of one statement and many run at once. */
const questions = [
  '/orders/paginated?pageSize=100&where={"number":{"contains":"order"}}&include={"customer":true,"lines":true,"tags":true}',
  '/orders/paginated?pageSize=5&orderBy={"customer.name":"desc"}&where={"customer":{"name":{"contains":"customer"}}}',
];

/** An answer without its moment, which differs between any two. */
const lasting = (text: string) => text.replace(/"timestamp":"[^"]*"/, '');

/** The one who writes in a tenant, and who therefore knows what is in it. */
class Writer {
  readonly own = new Map<number, Order>();
  readonly #tenant: Tenant;
  readonly #random: () => number;

  constructor(tenant: Tenant, random: () => number) {
    this.#tenant = tenant;
    this.#random = random;
  }

  async begin(): Promise<void> {
    const { text } = await send(this.#tenant, urls.json + questions[0]);
    for (const order of JSON.parse(text).data as Order[]) this.own.set(order.id, order);
  }

  /** Stores, changes or removes an order, and then reads its own write by each question. */
  async write(n: number): Promise<void> {
    const changed = await this.#change(n);
    for (const question of questions) {
      const [json, orm] = await Promise.all([
        send(this.#tenant, urls.json + question),
        send(this.#tenant, urls.orm + question),
      ]);
      expect(lasting(json.text), question).toBe(lasting(orm.text));
    }
    const all = JSON.parse((await send(this.#tenant, urls.json + questions[0])).text);
    expect(all.total).toBe(this.own.size);
    expect(new Map(all.data.map((order: Order) => [order.id, [order.number, order.status, order.version]]))).toEqual(
      new Map([...this.own.values()].map(({ id, number, status, version }) => [id, [number, status, version]])),
    );
    const one = await send(this.#tenant, `${urls.json}/orders/${changed}`);
    expect(one.status).toBe(this.own.has(changed) ? 200 : 404);
    if (one.status === 200) expect(JSON.parse(one.text).data).toEqual(this.own.get(changed));
  }

  async #change(n: number): Promise<number> {
    const kind = this.own.size < 4 ? 'store' : pick(this.#random, ['store', 'change', 'change', 'remove'] as const);
    const known = pick(this.#random, [...this.own.values()]);
    const number = `${this.#tenant}-order number ${n}`;
    if (kind === 'remove') {
      expect((await send(this.#tenant, `${urls.json}/orders/${known.id}`, 'DELETE')).status).toBe(204);
      this.own.delete(known.id);
      return known.id;
    }
    const status = pick(this.#random, ['draft', 'placed'] as const);
    const customerId = pick(this.#random, this.#tenant === 'a' ? [101, 102] : [201, 202]);
    const own = { number, status, customerId, ownerId: `${this.#tenant}-admin`, reviewerId: null };
    const { status: code, text } =
      kind === 'store'
        ? await send(this.#tenant, `${urls.json}/orders`, 'POST', own)
        : await send(this.#tenant, `${urls.json}/orders/${known.id}`, 'PUT', own);
    expect([code, text]).toEqual([kind === 'store' ? 201 : 200, expect.any(String)]);
    const order = JSON.parse(text).data as Order;
    this.own.set(order.id, order);
    return order.id;
  }
}

/** Asks the same as everybody until the writers are done: sees its tenant's rows only, and none of them older than before. */
async function readOn(tenant: Tenant, isDone: () => boolean): Promise<number> {
  const latest = new Map<number, number>();
  const foreign = tenant === 'a' ? 'b-' : 'a-';
  let reads = 0;
  for (; !isDone(); reads++) {
    const { status, text } = await send(tenant, urls.json + questions[reads % questions.length]);
    expect(status).toBe(200);
    expect(text).not.toContain(`"${foreign}`);
    const { data, total } = JSON.parse(text) as { data: Order[]; total?: number };
    if (reads % questions.length === 0) expect(total).toBe(data.length);
    for (const { id, version } of data) {
      expect(version).toBeGreaterThanOrEqual(latest.get(id) ?? 0);
      latest.set(id, version);
    }
  }
  return reads;
}

it('reads beside two writers have each own write, are those of the ORM byte for byte, and never a row of the other', async () => {
  const random = randomNumbers(1);
  const writers = [new Writer('a', random), new Writer('b', random)];
  let working = writers.length;
  const work = writers.map(async (writer) => {
    try {
      await writer.begin();
      for (let n = 0; n < writes; n++) await writer.write(n);
    } finally {
      working -= 1;
    }
  });
  const readers = (['a', 'b', 'a', 'b', 'a', 'b'] as const).map((tenant) => readOn(tenant, () => working === 0));
  const outcomes = await Promise.allSettled([...work, ...readers]);
  expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
  const reads = outcomes.slice(writers.length).map((outcome) => 'value' in outcome && outcome.value);
  expect(Math.min(...reads.map(Number))).toBeGreaterThan(writes);
}, 120_000);
