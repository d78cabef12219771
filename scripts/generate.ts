/**
 * Generates the ORM client of each database from prisma/models.prisma into src/generated/, and the types that tell the
 * chassis about it. Does nothing when the output is newer than its sources, so that other scripts can call it first.
 * `--force` generates in any case.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { dataModelOf } from '../src/chassis/database/models/data-model.ts';
import { providerModels, providersOf } from '../src/chassis/database/models/provider-models.ts';

const root = join(import.meta.dirname, '..');

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

/** The clients that are made of one file of models. */
export interface GenerateOptions {
  /** Absolute path of the models. Default prisma/models.prisma. */
  models?: string;
  /** Where the clients go, one folder for each database: within the project, whose packages they import. Default src/generated. */
  directory?: string;
}

/**
 * Generates the clients of the models' databases.
 *
 * @throws Error with what is wrong with the models
 */
export function generate(options: GenerateOptions = {}): void {
  const { models = join(root, 'prisma/models.prisma'), directory = join(root, 'src/generated') } = options;
  const text = readFileSync(models, 'utf8');
  const providers = providersOf(text);
  mkdirSync(directory, { recursive: true });
  for (const provider of ['postgresql', 'sqlite'] as const) {
    const schema = join(directory, `${provider}.prisma`);
    rmSync(schema, { force: true });
    rmSync(join(directory, provider), { recursive: true, force: true });
    if (!providers.includes(provider)) continue;
    writeFileSync(schema, providerModels(provider, text, generatorOf(provider)));
    runPrisma(schema, models);
  }
  const dataModel = JSON.stringify(dataModelOf(text), undefined, 2);
  writeFileSync(join(directory, 'data-model.ts'), `export const dataModel = ${dataModel} as const;\n`);
  writeFileSync(join(directory, 'orm.d.ts'), ormTypes);
}

function generatorOf(provider: string): string {
  return `
generator client {
  provider            = "prisma-client"
  output              = "./${provider}"
  runtime             = "nodejs"
  moduleFormat        = "esm"
  importFileExtension = "ts"
  compilerBuild       = "small"
}
`;
}

function runPrisma(schema: string, models: string): void {
  const prisma = join(dirname(createRequire(import.meta.url).resolve('prisma/package.json')), 'build/index.js');
  // The generator would download an engine that it never runs; any existing file keeps it from trying.
  const settings = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1', NO_COLOR: '1' };
  try {
    execFileSync(process.execPath, [prisma, 'generate', '--schema', schema], {
      cwd: dirname(schema),
      stdio: 'pipe',
      env: { ...process.env, ...settings, PRISMA_HIDE_UPDATE_MESSAGE: '1' },
    });
  } catch (error) {
    const { stderr } = error as { stderr?: Buffer };
    throw new Error(prismaMessage(stderr?.toString() ?? String(error), schema, models), { cause: error });
  }
}

/** Prisma's own words, about the file that one writes; its lines are the same. */
function prismaMessage(output: string, schema: string, models: string): string {
  const provider = /(\w+)\.prisma$/.exec(schema)?.[1];
  const said = output.replaceAll(`${provider}.prisma`, models).replace(/^Prisma schema loaded from .*\n/gm, '');
  return `Prisma refuses the models for ${provider}.\n${said.trim()}`;
}

function isFresh(): boolean {
  const made = statSync(join(root, 'src/generated/orm.d.ts'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = [
    'prisma/models.prisma',
    'package-lock.json',
    ...globSync('src/chassis/database/models/*', { cwd: root }),
  ];
  return [import.meta.filename, ...sources.map((file) => join(root, file))].every(
    (source) => (statSync(source, { throwIfNoEntry: false })?.mtimeMs ?? 0) < made,
  );
}

if (import.meta.main && (process.argv.includes('--force') || !isFresh())) {
  try {
    generate();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
