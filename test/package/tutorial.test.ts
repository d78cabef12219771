import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks } from '../house/code-blocks.ts';
import { pack, run } from './pack.ts';
import { withService } from './with-service.ts';

const blocks = codeBlocks('sh', 'ts').filter(({ file }) => file === 'docs/tutorial/first-service.md');
const started = blocks.findIndex(({ info }) => info === 'start');
const directory = mkdtempSync(join(tmpdir(), 'slipway-tutorial-'));
const shop = join(directory, 'shop');

beforeAll(() => pack(directory), 120_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('docs/tutorial/first-service.md', () => {
  it('has what it runs before the service starts, and what it asks it', () => {
    expect(started).toBeGreaterThan(4);
    expect(blocks.slice(started).filter(({ info }) => info === 'run')).toHaveLength(1);
  });

  it('leads to a service that passes its check, by its own commands and files', async () => {
    for (const { info, code } of blocks.slice(0, started)) {
      const [, file] = /^file=(.+)$/.exec(info) ?? [];
      if (file) {
        mkdirSync(dirname(join(shop, file)), { recursive: true });
        writeFileSync(join(shop, file), code);
      }
      // Its first commands end in the directory that they make, in which all others run.
      if (info === 'run') await run('bash', ['-ec', code], code.includes('slipway new') ? directory : shop);
    }
  }, 500_000);

  it(
    'has the service answer what it asks',
    () =>
      withService(shop, async ({ port }) => {
        const [asked] = blocks.slice(started).filter(({ info }) => info === 'run');
        const { stdout } = await run('bash', ['-ec', asked?.code.replaceAll(':3000', `:${port}`) ?? ''], shop);
        expect(stdout).toMatch(/"success":true.*"name":"Lamps".*"total":1/s);
      }),
    60_000,
  );
});
