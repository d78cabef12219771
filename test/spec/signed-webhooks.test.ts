import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createService, signedBy } from '../../src/chassis/index.ts';
import { hooksSettings } from '../fixtures/modules-webhooks/hooks/hooks.config.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';

const modulesDirectory = join(import.meta.dirname, '../fixtures/modules-webhooks');
const secrets = ['the-old-secret-of-the-test', 'the-new-secret-of-the-test'] as const;
const boot = (env: Record<string, string> = {}, routesPrefix: string[] = ['']) =>
  bootTestApp({
    env: { HOOKS_SECRET: secrets.join(', '), ...env },
    modulesDirectory,
    configure: (config) => ({ ...config, modules: [{ name: 'hooks', enabled: true, routesPrefix }] }),
  });
const app = await boot();

const path = '/hooks/timestamped/payments';
let made = 0;
/** A body that no other test signs; its spaces are lost when it is parsed. */
const newBody = (fields: object = {}) => `{ "number":  ${++made}, "more": ${JSON.stringify(fields)} }`;
const now = () => Math.floor(Date.now() / 1000);

function hmac(text: string, secret: string, encoding: 'hex' | 'base64' = 'hex'): string {
  return createHmac('sha256', secret).update(text).digest(encoding);
}

function signature(body: string, { secret = secrets[1] as string, time = now() } = {}): string {
  return `t=${time},v1=${hmac(`${time}.${body}`, secret)}`;
}

function send(to: string, body: string, headers: Record<string, string>, via: TestApp = app) {
  return via.send((server) =>
    server
      .post(to)
      .set({ 'content-type': 'application/json', ...headers })
      .send(body),
  );
}

const refusal = 'The signature is missing or invalid';

describe('a webhook', () => {
  it.each(secrets)('is let in when its bytes were signed with %s, and its body parsed', async (secret) => {
    const body = newBody();
    const data = await send(path, body, { 'x-signature': signature(body, { secret }) }).expectData();
    expect(data).toEqual({ body: JSON.parse(body) });
  });

  it('is let in with one right signature among others, as while a sender changes its secret', async () => {
    const body = newBody();
    const right = signature(body);
    await send(path, body, { 'x-signature': right.replace('v1=', `v1=${'0'.repeat(64)},v0=1,v1=`) }).expectData();
  });

  it.each([
    ['no signature', (_body: string) => ''],
    ['another secret', (body: string) => signature(body, { secret: 'a-secret-that-nobody-knows' })],
    ['another body', (body: string) => signature(`${body} `)],
    ['a time beyond the tolerance', (body: string) => signature(body, { time: now() - 301 })],
    ['a time in the future', (body: string) => signature(body, { time: now() + 600 })],
    [
      'a time that was not signed',
      (body: string) => signature(body, { time: now() - 400 }).replace(/t=\d+/, `t=${now()}`),
    ],
    ['no time', (body: string) => `v1=${hmac(body, secrets[0])}`],
    ['half a signature', (body: string) => signature(body).slice(0, -2)],
  ])('is a 401 with %s', async (_what, sign) => {
    const body = newBody();
    await send(path, body, { 'x-signature': sign(body) }).expectError(401, refusal);
  });

  it('is refused before its body is looked at', async () => {
    await send(path, '{ no json', { 'x-signature': 'nothing' }).expectError(401, refusal);
    await send(path, '{ no json', { 'x-signature': signature('{ no json') }).expectError(400, /not valid JSON/);
  });

  it('is a 409 when it is sent again, to this replica or another, and may come again once it has failed', async () => {
    const other = await boot({ DATABASE_URL: app.service.settings.DATABASE_URL });
    const body = newBody();
    const headers = { 'x-signature': signature(body) };
    await send(path, body, headers).expectData();
    await send(path, body, headers).expectError(409, 'This request was received before');
    await send(path, body, headers, other).expectError(409, 'This request was received before');
    const failing = `{"refused":true,"number":${++made}}`;
    const again = { 'x-signature': signature(failing) };
    await send(path, failing, again).expectError(400, 'Refused by the handler');
    await expect.poll(async () => (await send(path, failing, again)).status).toBe(400);
  });

  it('is a 409 when it was signed with both secrets and comes again with one of the two signatures', async () => {
    const body = newBody();
    const time = now();
    const [first, second] = secrets.map((secret) => signature(body, { secret, time })) as [string, string];
    await send(path, body, { 'x-signature': `${first},${second.replace(/^t=\d+,/, '')}` }).expectData();
    for (const one of [first, second])
      await send(path, body, { 'x-signature': one }).expectError(409, 'This request was received before');
  });

  it.each(['/hooks/inner', '/HOOKS/inner/', '/hooks/inner//'])(
    'is verified at every path that leads to it: %s',
    async (to) => {
      const body = newBody();
      await send(to, body, { 'x-signature': signature(body) }).expectData();
      await send(to, newBody(), { 'x-signature': signature(body) }).expectError(401, refusal);
    },
  );

  it('is let in once of twenty that come at the same time', async () => {
    const body = newBody();
    const headers = { 'x-signature': signature(body) };
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(path, body, headers)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)]);
  });

  it('may be of any type, and is then the bytes', async () => {
    const body = `<event number="${++made}"/>`;
    const headers = { 'x-signature': signature(body), 'content-type': 'application/xml' };
    expect(await send(path, body, headers).expectData()).toEqual({ body });
    await send('/hooks', body, { 'content-type': 'application/xml' }).expectError(415, /application\/xml/);
  });

  it('is understood as Standard Webhooks and GitHub write it', async () => {
    const body = newBody();
    const [id, time] = ['msg_1', String(now())];
    const standard = `v1,${hmac(`${id}.${time}.${body}`, secrets[0], 'base64')}`;
    const headers = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,AAAA ${standard}` };
    await send('/hooks/standard', body, headers).expectData();
    await send('/hooks/standard', body, { ...headers, 'webhook-id': 'msg_2' }).expectError(401, refusal);
    await send('/hooks/body', body, { 'x-hub-signature-256': `sha256=${hmac(body, secrets[0])}` }).expectData();
    await send('/hooks/body', body, { 'x-hub-signature-256': `sha256=${hmac(body, 'x')}` }).expectError(401, refusal);
  });

  it('is refused where a point in its id would let another body have the same signature', async () => {
    const [body, time] = [newBody(), String(now())];
    const signed = `v1,${hmac(`msg_1.1.${time}.${body}`, secrets[0], 'base64')}`;
    const headers = { 'webhook-id': 'msg_1.1', 'webhook-timestamp': time, 'webhook-signature': signed };
    await send('/hooks/standard', body, headers).expectError(401, refusal);
  });

  it('is remembered in memory where there is no database', async () => {
    const without = await boot({ DATABASE_URL: 'none' });
    const body = newBody();
    const headers = { 'x-signature': signature(body) };
    await send(path, body, headers, without).expectData();
    await send(path, body, headers, without).expectError(409, /before/);
  });

  it.each([['none'], [undefined]])(
    'is let in once by all prefixes of its module, with DATABASE_URL %s',
    async (url) => {
      const both = await boot(url === undefined ? {} : { DATABASE_URL: url }, ['/v1', '/v2']);
      const body = newBody();
      const headers = { 'x-signature': signature(body) };
      await send(`/v1${path}`, body, headers, both).expectData();
      await send(`/v2${path}`, body, headers, both).expectError(409, /before/);
    },
  );
});

describe('the secrets of webhooks', () => {
  it('are refused where whsec_ and what follows give a key that everybody knows', () => {
    const env = { HOOKS_SECRET: `whsec_${'!'.repeat(20)}`, DATABASE_URL: 'none' };
    const service = createService({ modules: [], server: { port: 0 }, moduleSettings: hooksSettings }, { env });
    const guard = () => signedBy({ header: 'webhook-signature', secret: 'HOOKS_SECRET', scheme: 'standard' });
    expect(() => service.run(guard)).toThrow(/base64 of at least 16 bytes, found 0/);
  });

  it('are required in production, long enough, and in no message', () => {
    const make = (env: Record<string, string>) => () =>
      createService({ modules: [], server: { port: 0 }, moduleSettings: hooksSettings }, { env });
    expect(make({ HOOKS_SECRET: 'short-secret' })).toThrow(
      /HOOKS_SECRET: expected a comma list of secrets of at least 16/,
    );
    expect(make({ HOOKS_SECRET: 'short-secret' })).not.toThrow(/short-secret/);
    expect(make({ NODE_ENV: 'production' })).toThrow(/HOOKS_SECRET: expected a value, because NODE_ENV is production/);
    expect(JSON.stringify(app.service.configuration.sources)).not.toContain(secrets[0]);
  });
});
