import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { slipway as runSlipway } from '../support/slipway-command.ts';

const directory = mkdtempSync(join(tmpdir(), 'slipway-cli-'));
afterAll(() => rmSync(directory, { recursive: true }));
const slipway = (args: string[], more: Record<string, string> = {}) =>
  runSlipway(args, { DATABASE_URL: `file:${join(directory, 'own.db')}`, ...more });

describe('slipway in the reference service', () => {
  it('lists every route with who may call it', async () => {
    const routes = JSON.parse((await slipway(['routes', '--json'])).stdout);
    const needs = ['scope catalog:write', 'role admin'];
    expect(routes).toContainEqual({
      ...{ method: 'GET', path: '/api/v1/products/paginated', module: 'catalog' },
      ...{ callers: [], needs: [], optional: true, restricted: false, list: 'Product' },
    });
    expect(routes).toContainEqual(
      expect.objectContaining({ method: 'DELETE', path: '/api/v1/products/:id', restricted: true, needs }),
    );
    const { stdout } = await slipway(['routes']);
    expect(stdout).toMatch(
      /^DELETE +\/api\/v1\/products\/:id +bearer or apiKey, scope catalog:write, role admin +catalog$/m,
    );
    expect(stdout).toMatch(/^PUT +\/api\/v1\/users\/:id +bearer, self or role admin +users$/m);
    expect(stdout).toMatch(/^GET +\/api\/v1\/products +everybody +Product +catalog$/m);
  });

  it('shows every setting, where it is from and its default, and no secret', async () => {
    const secret = 'a secret that nobody may read, long enough';
    const { stdout } = await slipway(['config', '--changed'], {
      CURSOR_SECRET: secret,
      PORT: '8080',
      OTEL_RESOURCE_ATTRIBUTES: 'team=shop,token=hunter2',
      DATABSE_URL: 'x',
    });
    expect(stdout).toMatch(/^PORT +8080 +environment +3000$/m);
    expect(stdout).toMatch(/^CURSOR_SECRET +\[redacted\] +environment +\[redacted\]$/m);
    expect(stdout).toContain('"team":"shop"');
    for (const text of [secret, 'hunter2']) expect(stdout).not.toContain(text);
    const all = JSON.parse((await slipway(['config', '--json'])).stdout) as { name: string }[];
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(['PORT', 'AUTH_JWT_SECRET', 'SENTRY_DSN']));
    expect(all).toContainEqual({ name: 'PORT', value: 3000, from: 'default', default: 3000 });
  });

  it('writes the API document, and says which change breaks its clients', async () => {
    const file = join(directory, 'openapi.json');
    await slipway(['openapi', '--file', file]);
    expect(await slipway(['openapi', '--check', '--file', file])).toMatchObject({
      code: 0,
      stdout: 'The API has not changed.\n',
    });
    const document = JSON.parse(readFileSync(file, 'utf8'));
    document.components.schemas.Product.properties.colour = { type: 'string' };
    writeFileSync(file, JSON.stringify(document));
    const { code, stderr } = await slipway(['openapi', '--check', '--file', file]);
    expect(code).toBe(1);
    expect(stderr).toContain('GET /api/v1/products 200.data[].colour is gone');
  });

  it.each(['{"name": "shop"}', 'no JSON', ''])('writes no API document over a file with %j', async (text) => {
    const file = join(directory, 'other.json');
    writeFileSync(file, text);
    const { code, stderr } = await slipway(['openapi', '--file', file]);
    expect([code, stderr]).toEqual([
      1,
      `Expected an API document at ${file}, found another file. Nothing is changed.\n`,
    ]);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('finds what keeps the service from running, and how to mend it', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      DATABASE_URL: `file:${join(directory, 'doctor.db')}`,
    };
    const ill = await slipway(['doctor'], env);
    expect(ill.code).toBe(1);
    expect(ill.stdout).toMatch(
      /^MEND +database: sqlite at .*\n +Migrations not applied: .*; run: npx slipway migrate$/m,
    );
    expect(ill.stdout).toMatch(
      /^MEND +telemetry \(OTEL_EXPORTER_OTLP_ENDPOINT\): 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)$/m,
    );
    expect((await slipway(['migrate'], env)).code).toBe(0);
    const well = await slipway(['doctor', '--json'], { DATABASE_URL: env.DATABASE_URL });
    expect(well.code, well.stdout).toBe(0);
    const broken = await slipway(['doctor'], { PORT: 'x' });
    expect(broken.stdout).toContain('PORT: ');
  });
});
