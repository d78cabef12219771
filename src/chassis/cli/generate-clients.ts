import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { chassisFile, generatedDirectory, prismaDirectory } from '../config/layout.ts';
import { dataModelOf } from '../database/models/data-model.ts';
import { providerModels, providersOf } from '../database/models/provider-models.ts';

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
 * Generates the ORM client of each database of the models, and the types that tell the chassis about it.
 *
 * @throws Error with what is wrong with the models
 */
export function generateClients(options: GenerateOptions = {}): void {
  const { models = join(prismaDirectory, 'models.prisma'), directory = generatedDirectory } = options;
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
  const prisma = join(dirname(createRequire(schema).resolve('prisma/package.json')), 'build/index.js');
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

/** Whether the clients are newer than what they are made of. */
export function areClientsFresh(): boolean {
  const made = statSync(join(generatedDirectory, 'orm.d.ts'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = [join(prismaDirectory, 'models.prisma'), join(prismaDirectory, '../package-lock.json')];
  const makers = [
    import.meta.filename,
    chassisFile('database/models/data-model'),
    chassisFile('database/models/provider-models'),
  ];
  return [...sources, ...makers].every((source) => (statSync(source, { throwIfNoEntry: false })?.mtimeMs ?? 0) < made);
}
