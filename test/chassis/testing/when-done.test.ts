import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const config = join(import.meta.dirname, 'fixtures/when-done/vitest.config.ts');

it('is after the test, or after the last hook of the file where a hook or its top asked for it, in each file of a process', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-when-done-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const notes = join(directory, 'notes');
  const program = join(import.meta.dirname, '../../../node_modules/vitest/vitest.mjs');
  const env = { PATH: process.env['PATH'], NOTES: notes };
  await promisify(execFile)(process.execPath, [program, 'run', '--config', config], { env, timeout: 30_000 });
  const lines = readFileSync(notes, 'utf8').trim().split('\n');
  const order = ['test', 'hook of a test', 'own last hook', 'top', 'second hook', 'first hook'];
  expect(lines).toHaveLength(2 * order.length);
  for (const file of ['one', 'two']) {
    expect(lines.filter((line) => line.startsWith(file))).toEqual(order.map((what) => `${file} ${what}`));
  }
});
