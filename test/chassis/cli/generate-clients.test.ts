import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** Runs the generator on models in a directory of the project, as `npm run generate` runs it on prisma/models.prisma. */
async function generate(models: string): Promise<{ directory: string; stderr: string }> {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const directory = mkdtempSync(join(root, '.cache/generate-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'models.prisma'), models);
  const call = `await import(${JSON.stringify(join(root, 'src/chassis/cli/generate-clients.ts'))}).then(({ generateClients }) =>
    generateClients({ models: ${JSON.stringify(join(directory, 'models.prisma'))}, directory: ${JSON.stringify(directory)} }))
    .catch((error) => { console.error(error.message); process.exitCode = 1; });`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', call]);
  const { stderr } = await run.catch((error: { stderr: string }) => error);
  return { directory, stderr };
}

it('says what Prisma says of a mistake in the models, at its line of the models, and nothing else', async () => {
  const { directory, stderr } = await generate('// Things\nmodel Thing {\n  id Strin @id\n}\n');
  expect(stderr).toContain('Prisma refuses the models for postgresql.');
  expect(stderr).toContain('Type "Strin" is neither a built-in type');
  expect(stderr).toContain(`${join(directory, 'models.prisma')}:3`);
  expect(stderr).not.toMatch(/Buffer|at .*generate-clients\.ts/);
});

it('generates nothing of SQLite for models whose datasource is PostgreSQL', async () => {
  const models = 'datasource db {\n  provider = "postgresql"\n}\n\nmodel Thing {\n  id Int @id\n  labels String[]\n}\n';
  const { directory, stderr } = await generate(models);
  expect(stderr).toBe('');
  expect(readdirSync(directory).filter((name) => name.includes('sqlite'))).toEqual([]);
  expect(existsSync(join(directory, 'postgresql/client.ts'))).toBe(true);
});
