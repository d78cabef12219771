import { createHmac, randomUUID } from 'node:crypto';
import { unscoped } from 'slipway';
import type { TestClient, TestRequest } from 'slipway/testing';
import { FakePeer, type Received, whenDone } from 'slipway/testing';
import { registerAccount } from './accounts.ts';
import { bootTestApp, type TestApp } from './boot-test-app.ts';

const secret = 'the secret of payments in tests';
/** The orders module runs where somebody takes payments. */
export const ordersEnv = (url = 'http://127.0.0.1:1') => ({ PAYMENTS_URL: url, PAYMENTS_WEBHOOK_SECRET: secret });

/** What a provider says of a charge. */
export type Outcome = 'succeeded' | 'declined' | 'pending' | 'lost';

/** A payment provider as a real HTTP server: it charges once for each reference. */
export class PaymentProvider {
  readonly peer: FakePeer;
  /** What the next charges become; `lost` is charged, but the answer never comes. */
  outcome: Outcome = 'succeeded';
  /** The amounts that were really charged, by reference. */
  readonly charges = new Map<string, { amount: number; status: string }>();

  private constructor(peer: FakePeer) {
    this.peer = peer;
    peer.answer = (res, received) => {
      const [status, body] = this.#take(received);
      if (status === 0) return void res.destroy();
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
  }

  static async open(): Promise<PaymentProvider> {
    const peer = await FakePeer.open();
    whenDone(() => peer.close());
    return new PaymentProvider(peer);
  }

  #take({ method, url, body, headers }: Received): [number, object] {
    if (method === 'GET') {
      const reference = url.split('/').at(-1) as string;
      const charge = this.charges.get(reference);
      return charge ? [200, { reference, ...charge }] : [404, {}];
    }
    const { reference, amount } = JSON.parse(body);
    if (headers['idempotency-key'] !== reference) return [400, {}];
    if (this.outcome === 'declined') return [402, { reason: 'No funds' }];
    const status = this.outcome === 'pending' ? 'pending' : 'succeeded';
    if (!this.charges.has(reference)) this.charges.set(reference, { amount, status });
    return this.outcome === 'lost' ? [0, {}] : [201, { reference, ...this.charges.get(reference) }];
  }
}

/** The service with orders on a database of its own, and the provider that takes payments for it. */
export interface OrderShop {
  app: TestApp;
  provider: PaymentProvider;
}

export async function openOrderShop(env: Record<string, string> = {}): Promise<OrderShop> {
  const provider = await PaymentProvider.open();
  return { provider, app: await bootTestApp({ env: { ...ordersEnv(provider.peer.url), ...env } }) };
}

/** Looks at the database beyond the scopes of its models. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of what it asks for
export function beyondScopes(app: TestApp, work: (orm: any) => PromiseLike<any>): Promise<any> {
  return app.service.run(() => unscoped('a test looks at all rows', async () => work(app.orm)));
}

/** An account of a tenant. */
export async function memberOf(app: TestApp, tenantId: string, role: 'admin' | 'user' = 'user'): Promise<TestClient> {
  const account = await registerAccount(app);
  await app.orm.user.update({ where: { id: account.id }, data: { role, organizationId: tenantId } });
  return account.client;
}

/** A tenant with an administrator, a user, and so many of each of some products. */
export async function aTenant(app: TestApp, ...available: number[]) {
  const id = randomUUID();
  const [admin, user] = await Promise.all([memberOf(app, id, 'admin'), memberOf(app, id)]);
  const products = await app.get('/api/v1/products/paginated', { pageSize: 10 }).expectData();
  const stocked = [];
  for (const [index, count] of available.entries()) {
    const product = products[index] as { id: string };
    await admin.post('/api/v1/stock', { productId: product.id, available: count, reorderBelow: 2 }).expectData(201);
    stocked.push({ productId: product.id });
  }
  return { id, admin, user, products: stocked };
}

/** A draft with so many of each of these products. */
export function aDraft(client: TestClient, products: readonly { productId: string }[], ...quantities: number[]) {
  const lines = quantities.map((quantity, index) => ({ productId: products[index]?.productId, quantity }));
  return client.post('/api/v1/orders', { lines }).expectData(201);
}

/** An operation on an order, with headers such as `Idempotency-Key`. */
export function act(client: TestClient, what: string, id: string, headers: Record<string, string> = {}): TestRequest {
  return client.send((server) => server.post(`/api/v1/orders/${id}/${what}`).set(headers));
}

/** How much of a product a tenant has. */
export async function stockOf(client: TestClient, { productId }: { productId: string }): Promise<number> {
  const [row] = await client.get('/api/v1/stock', { where: { productId } }).expectData();
  return row.available;
}

/** A webhook of the provider. */
export function notice(app: TestApp, body: object, { key = secret, at = Date.now() } = {}): TestRequest {
  const text = JSON.stringify(body);
  const time = Math.floor(at / 1000);
  const signature = createHmac('sha256', key).update(`${time}.${text}`).digest('hex');
  return app.send((server) =>
    server
      .post('/api/v1/webhooks/payments')
      .set({ 'X-Signature': `t=${time},v1=${signature}`, 'Content-Type': 'application/json' })
      .send(text),
  );
}
