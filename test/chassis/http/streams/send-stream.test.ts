import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../../../support/boot-test-app.ts';

const app = await bootTestApp({
  modulesDirectory: join(import.meta.dirname, '../../../fixtures/modules-streaming'),
  configure: (config) => ({ ...config, modules: [{ name: 'export', enabled: true }] }),
});

const state = (): Promise<{ read: number; ended: number; cost: number; many: boolean[] }> =>
  app.get('/state').expectData();

describe('a stream of rows, asked for with HEAD', () => {
  it('is complete once its beginning was read, and has its source end', async () => {
    const { read, ended } = await state();
    const { status, headers } = await fetch(`${app.url}/rows.csv?count=1000000`, { method: 'HEAD' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const after = await state();
    expect(after.ended).toBe(ended + 1);
    expect(after.read - read).toBeLessThan(1000);
  });
});

it.each(['GET', 'HEAD'])('a stream of few rows or none is charged as a page is, with %s', async (method) => {
  for (const count of [0, 3]) {
    await (await fetch(`${app.url}/rows.csv?count=${count}`, { method })).text();
    expect((await state()).cost).toBe(60);
  }
});

it('a stream knows whether its address had two others when it began, and is not to hold many rows', async () => {
  const { many: before } = await state();
  const open = new AbortController();
  for (let count = 1; count <= 3; count += 1) {
    await fetch(`${app.url}/rows.csv?count=1000000`, { signal: open.signal });
  }
  open.abort();
  const { many } = await state();
  expect(many.slice(before.length)).toEqual([false, false, true]);
});
