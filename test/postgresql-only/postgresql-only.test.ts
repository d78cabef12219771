import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { repositoryFiles, root } from '../house/repository.ts';

const ofSqlite = /sqlite/i;
const env = {
  ...{ PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', INTERNAL_HOST: '127.0.0.1', INTERNAL_PORT: '0' },
  ...{ LOG_LEVEL: 'info', LOG_FORMAT: 'json', DATABASE_MIGRATE: 'true', DATABASE_SEED: 'small' },
};

/** A copy of the project as somebody has it who said in the models that the service runs on PostgreSQL only. */
function postgresqlOnlyCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'slipway-postgresql-only-'));
  for (const file of repositoryFiles(/./)) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const models = join(copy, 'prisma/models.prisma');
  writeFileSync(models, `datasource db {\n  provider = "postgresql"\n}\n\n${readFileSync(models, 'utf8')}`);
  return copy;
}

describe('a project whose datasource is PostgreSQL', () => {
  let copy: string;
  const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: copy, env });

  beforeAll(async () => {
    copy = postgresqlOnlyCopy();
    await run('scripts/generate.ts');
  });

  it('generates nothing of SQLite', () => {
    const generated = globSync('**', { cwd: join(copy, 'src/generated') });
    expect(generated).toContain('postgresql/client.ts');
    expect(generated.filter((file) => ofSqlite.test(file))).toEqual([]);
  });

  it('has no errors of types', async () => {
    await run('node_modules/typescript/bin/tsc', '-p', '.', '--noEmit');
  }, 240_000);

  it('names no file as its database in the refusal of one', async () => {
    const refused = await promisify(execFile)(process.execPath, ['src/main.ts'], {
      cwd: copy,
      env: { ...env, DATABASE_URL: 'file:./data/service.db' },
    }).catch((error: { code: number; stdout: string; stderr: string }) => error);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stdout + refused.stderr).toMatch(/DATABASE_URL.*PostgreSQL/is);
  });
});
