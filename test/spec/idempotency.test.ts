import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

const ledger = join(import.meta.dirname, '../fixtures/ledger');
const modules = [{ name: 'ledger', enabled: true }];
const boot = (env: Record<string, string> = {}, routesPrefix = '') =>
  bootTestApp({
    env,
    configure: (config) => ({ ...config, modules: modules.map((module) => ({ ...module, routesPrefix })) }),
    modulesDirectory: join(ledger, 'modules'),
  });

const app = await boot();
afterAll(killSpawned);

let made = 0;
const newKey = () => `key-of-the-test-${process.pid}-${++made}`;

/** Sends a request with a key. */
function send(
  path: string,
  key: string,
  body: object | string = {},
  headers: Record<string, string> = {},
  to: TestApp = app,
) {
  const type = typeof body === 'string' ? 'text/csv' : 'application/json';
  return to.send((server) =>
    server
      .post(path)
      .set({ 'idempotency-key': key, 'content-type': type, ...headers })
      .send(body),
  );
}

const runs = (): Promise<number> => app.get('/runs').expectData();

describe('a request with an Idempotency-Key', () => {
  it('runs once and gives the stored answer again, with its headers and a mark', async () => {
    const key = newKey();
    const first = await send('/entries', key, { name: key });
    const again = await send('/entries', key, { name: key });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(again.headers['location']).toBe(first.headers['location']);
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true']);
    expect([first.headers['set-cookie'], again.headers['set-cookie']]).toEqual([['session=secret'], undefined]);
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  it('is one of the same route, however its path is written', async () => {
    const to = await boot({}, '/books');
    const key = newKey();
    await send('/books/entries', key, { name: key }, {}, to).expectData(201);
    await send('/Books/Entries/', key, { name: key }, {}, to).expectError(422, /used for another request/);
  });

  it('needs a key that nobody guesses where the caller is known by its address only', async () => {
    await send('/entries', 'order-1', { name: 'order-1' }).expectError(400, /at least 16 characters, such as a UUID/);
    expect((await send('/entries', 'order-1', { name: newKey() }, { 'x-user': newKey() })).status).toBe(201);
  });

  it('keeps a user whose identifier looks like an address apart from callers of that address', async () => {
    const key = newKey();
    const body = { name: key };
    const nobody = await send('/entries', key, body);
    const user = await send('/entries', key, body, { 'x-user': '127.0.0.1' });
    expect([nobody.body.data.by, user.body.data.by]).toEqual([null, '127.0.0.1']);
  });

  it('is answered 429 once its caller has stored too much, while others go on and what is stored is given again', async () => {
    const [user, key] = [newKey(), newKey()];
    const large = (it: string, of = user) => send('/large', it, {}, { 'x-user': of });
    expect((await large(key)).status).toBe(200);
    const { headers } = await large(newKey()).expectError(429, /Too many requests with an Idempotency-Key/);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await large(key)).headers['idempotent-replayed']).toBe('true');
    expect((await large(newKey(), newKey())).status).toBe(200);
  });

  it('is charged for the records of its body before it takes its key', async () => {
    const to = await boot({ RATE_LIMIT_ENABLED: 'true', RATE_LIMIT_REQUESTS: '20' });
    const records = { entries: Array.from({ length: 1_000 }, () => ({})) };
    // The handler looks at no list, and is charged for none.
    expect((await send('/entries', newKey(), { name: newKey(), ...records }, {}, to)).status).toBe(201);
    expect((await send('/entries', newKey(), records, {}, to)).status).toBe(429);
  });

  it('is charged for its key', async () => {
    const to = await boot({ RATE_LIMIT_ENABLED: 'true', RATE_LIMIT_REQUESTS: '20' });
    // The unit of work and the records of the body are just below what one point pays for.
    const body = { name: newKey(), entries: Array.from({ length: 8 }, () => ({})) };
    const { headers } = await send('/entries', newKey(), body, {}, to);
    expect(headers['ratelimit']).toMatch(/^"client";r=18;/);
  });

  it('runs once however many come at the same time, and all get its answer', async () => {
    const key = newKey();
    const before = await runs();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send('/entries', key, { name: key })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(await runs()).toBe(before + 1);
    expect(await app.count('category', { name: { startsWith: key } })).toBe(1);
  });

  it('is a 422 with another body or path', async () => {
    const key = newKey();
    await send('/entries', key, { name: key }).expectData(201);
    await send('/entries', key, { name: 'other' }).expectError(
      422,
      /^This Idempotency-Key was used for another request/,
    );
    await send('/entries/1/close', key);
    await send('/entries/2/close', key).expectError(422, /another request/);
    expect((await send('/entries/1/close', key)).status).toBe(204);
  });

  it('creates a record of a resource once', async () => {
    const key = newKey();
    const created = await send('/categories', key, { name: key }).expectData(201);
    expect(await send('/categories', key, { name: key }).expectData(201)).toEqual(created);
    expect(await app.count('category', { name: key })).toBe(1);
  });

  it('is a 409 while the first one is in progress and nobody waits for it', async () => {
    const key = newKey();
    const before = await runs();
    const first = send('/held', key).expectData();
    await expect.poll(runs).toBe(before + 1);
    const { headers } = await send('/held', key).expectError(409, /in progress/);
    expect(headers['retry-after']).toBe('1');
    await app.post('/release');
    // Its key is held until it is answered.
    const answer = await first;
    expect(await send('/held', key).expectData()).toBe(answer);
  });

  it('belongs to its caller', async () => {
    const key = newKey();
    const [one, two] = [{ 'x-user': 'one' }, { 'x-user': 'two' }];
    expect(await send('/entries', key, { name: key }, one).expectData(201)).toMatchObject({ by: 'one' });
    expect(await send('/entries', key, { name: key }, two).expectData(201)).toMatchObject({ by: 'two' });
    expect(await send('/entries', key, { name: key }, one).expectData(201)).toMatchObject({ by: 'one' });
  });

  it('gives its answer to nobody whose rights have changed since, and does not run again', async () => {
    const [user, key] = [newKey(), newKey()];
    const as = (role: string) => send('/entries', key, { name: key }, { 'x-user': user, 'x-role': role });
    expect((await as('admin,clerk')).status).toBe(201);
    await as('clerk').expectError(403, /Your rights have changed/);
    expect((await as('clerk,admin')).headers['idempotent-replayed']).toBe('true');
    expect(await app.count('category', { name: { startsWith: key } })).toBe(1);
  });

  it('stores nothing where it fails, and runs again', async () => {
    const key = newKey();
    await send('/entries', key, { name: key, refused: true }).expectError(400, 'Refused after it was stored');
    expect(await app.count('category', { name: { startsWith: key } })).toBe(0);
    await send('/entries', key, { name: key, refused: true }).expectError(400, 'Refused after it was stored');
    await send('/entries', key, { name: key }).expectData(201);
  });

  it('tries its handlers again after a conflict of transactions, as often as its unit of work says', async () => {
    const key = newKey();
    if ((await runs()) % 2 === 1) await send('/entries', newKey(), { name: newKey() });
    const before = await runs();
    const { status, headers } = await send('/retried', key);
    expect([status, await runs()]).toEqual([200, before + 2]);
    expect(headers['x-of-attempt']).toBe(String(before + 2));
    expect(await app.count('category', { name: `retried ${before + 1}` })).toBe(0);
  });

  it('is refused with a key that is none, a body that cannot be compared, or an answer that is too long to keep', async () => {
    await send('/entries', 'two words').expectError(400, /1 to 255 printable characters/);
    await send('/entries', 'x'.repeat(256)).expectError(400, /1 to 255/);
    await app.post('/required').expectError(400, 'Expected the header Idempotency-Key, found none');
    await send('/long', newKey()).expectError(500, /an answer of at most 1048576 bytes/);
    expect((await send('/required', newKey())).status).toBe(204);
  });

  it('runs without a key as if nothing were asked', async () => {
    const before = await runs();
    for (let sent = 0; sent < 2; sent += 1) await app.post('/entries', { name: newKey() }).expectData(201);
    expect(await runs()).toBe(before + 2);
  });

  it('is kept as hashes, and removed some time after it has expired', async () => {
    const key = newKey();
    await send('/entries', key, { name: key }).expectData(201);
    const keys = (app.orm as unknown as { idempotencyKey: Keys }).idempotencyKey;
    expect(JSON.stringify((await keys.findMany({})).map(({ answer: _, ...rest }) => rest))).not.toContain(key);
    const expiresAt = new Date(Date.now() - 1000);
    await keys.updateMany({ data: { expiresAt } });
    const again = await send('/entries', key, { name: key }).expectData(201);
    expect(again.id).not.toBeUndefined();
    expect(await app.count('category', { name: { startsWith: key } })).toBe(2);
    const other = await boot({ DATABASE_URL: app.service.settings.DATABASE_URL });
    await keys.updateMany({ data: { expiresAt } });
    await send('/entries', newKey(), { name: newKey() }, {}, other).expectData(201);
    await expect.poll(async () => (await keys.findMany({ where: { expiresAt } })).length).toBe(0);
  });
});

interface Keys {
  findMany(query: object): Promise<{ answer: string | null }[]>;
  updateMany(query: object): Promise<unknown>;
}

describe('a process that is killed', () => {
  const spawn = () =>
    new SpawnedService({
      program: [join(ledger, 'main.ts')],
      env: { DATABASE_URL: app.service.settings.DATABASE_URL, DATABASE_MIGRATE: 'false', DATABASE_SEED: 'none' },
    });

  it.each([
    ['before its work is committed, and the request runs anew', 'hang'],
    ['between the commit and the answer, and the request gets what was stored', 'die'],
  ])('leaves one effect when it is killed %s', async (_when, then) => {
    const key = newKey();
    const body = { name: key, then };
    const service = spawn();
    const { url } = await service.ready();
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    const asked = fetch(`${url}/entries`, { method: 'POST', headers, body: JSON.stringify(body) });
    const failed = expect(asked).rejects.toThrow();
    if (then === 'hang') {
      await expect.poll(async () => (await fetch(`${url}/runs`)).text()).toContain('"data":1');
      await service.kill();
    }
    await service.closed;
    await failed;
    expect(await app.count('category', { name: { startsWith: key } })).toBe(then === 'hang' ? 0 : 1);
    const again = await send('/entries', key, body);
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, then === 'hang' ? undefined : 'true']);
    expect(await app.count('category', { name: { startsWith: key } })).toBe(1);
  });
});
