/**
 * Generates the ORM client of each database from prisma/models.prisma into src/generated/, and the types that tell the
 * chassis about it. Does nothing when the output is newer than its sources, so that other scripts can call it first.
 * `--force` generates in any case.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '..');
const models = join(root, 'prisma/models.prisma');
const generated = join(root, 'src/generated');
const stamp = join(generated, 'orm.d.ts');

const ormTypes = `import type { Prisma, PrismaClient } from './postgresql/client.ts';

declare global {
  namespace Slipway {
    interface Orm {
      client: PrismaClient;
      models: Prisma.TypeMap['model'];
    }
  }
}
`;

function schemaFor(provider: 'postgresql' | 'sqlite'): string {
  return `generator client {
  provider            = "prisma-client"
  output              = "./${provider}"
  runtime             = "nodejs"
  moduleFormat        = "esm"
  importFileExtension = "ts"
  compilerBuild       = "small"
}

datasource db {
  provider = "${provider}"
}

${readFileSync(models, 'utf8')}`;
}

function isFresh(): boolean {
  const made = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return [models, import.meta.filename, join(root, 'package-lock.json')].every(
    (source) => (statSync(source, { throwIfNoEntry: false })?.mtimeMs ?? 0) < made,
  );
}

if (process.argv.includes('--force') || !isFresh()) {
  const prisma = join(dirname(createRequire(import.meta.url).resolve('prisma/package.json')), 'build/index.js');
  mkdirSync(generated, { recursive: true });
  for (const provider of ['postgresql', 'sqlite'] as const) {
    const schema = join(generated, `${provider}.prisma`);
    writeFileSync(schema, schemaFor(provider));
    execFileSync(process.execPath, [prisma, 'generate', '--schema', schema], {
      stdio: 'pipe',
      // The generator would download an engine that it never runs; any existing file keeps it from trying.
      env: {
        ...process.env,
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        CHECKPOINT_DISABLE: '1',
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
      },
    });
  }
  writeFileSync(stamp, ormTypes);
}
