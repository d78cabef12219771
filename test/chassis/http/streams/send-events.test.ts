import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../../../support/boot-test-app.ts';

const app = await bootTestApp({
  modulesDirectory: join(import.meta.dirname, '../../../fixtures/modules-streaming'),
  configure: (config) => ({ ...config, modules: [{ name: 'export', enabled: true }] }),
});

const ended = async (): Promise<number> => (await app.get('/state').expectData()).ended;
const headers = { caller: 'ann', 'last-event-id': '1' };

describe('a source of events that looks again and again and finds nothing new', () => {
  it('ends with the answer to HEAD', async () => {
    const before = await ended();
    expect((await fetch(`${app.url}/only-event`, { method: 'HEAD', headers })).status).toBe(200);
    await expect.poll(ended).toBe(before + 1);
  });

  it('ends with the stream of a caller who may not go on, and who stays', async () => {
    const before = await ended();
    const res = await fetch(`${app.url}/only-event`, { headers });
    await app.post('/rights/none');
    expect(await res.text()).not.toContain('id: 1');
    await expect.poll(ended).toBe(before + 1);
    await app.post('/rights/user');
  });
});
