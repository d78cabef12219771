import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { createMigration } from '../../database/migrations/create-migration.ts';
import { writeFiles } from '../file-changes.ts';
import { withModule } from './enabled-modules.ts';
import { type Field, readFields } from './fields.ts';
import { withModel } from './models.ts';
import { type ModuleNames, moduleNames } from './names.ts';
import { type Access, type ModulePlan, sourceFiles } from './source-files.ts';
import { testFiles } from './test-files.ts';

/** What `slipway module` is told. */
export interface ModuleRequest {
  readonly name: string;
  /** Such as `price:int`. */
  readonly fields: readonly string[];
  readonly plural?: string | undefined;
  readonly access: Access;
  /** Whether guards ask for the scopes `read` and `write`, as those of API keys do, in place of roles. Default: false */
  readonly scoped?: boolean;
  /** Name of the migration. Default: `add_` and the name of the table. */
  readonly migration?: string | undefined;
}

/** A module as it would be written, without its migration. */
export interface PlannedModule {
  readonly names: ModuleNames;
  readonly fields: readonly Field[];
  /** Texts of files by their paths below the service. */
  readonly files: Readonly<Record<string, string>>;
  readonly migration: string;
}

/** Where the routes of new modules are. */
const prefix = '/api/v1';

/**
 * Plans a module of a service; writes nothing.
 *
 * @param root absolute path of the service
 * @throws UsageError for what cannot be made
 */
export function planModule(root: string, request: ModuleRequest): PlannedModule {
  const names = moduleNames(request.name, request.plural);
  const fields = readFields(request.fields, names);
  const models = withModel(readFileSync(join(root, 'prisma/models.prisma'), 'utf8'), names, fields);
  const modulesOf = new Map(
    fields.flatMap(({ relation }) => (relation ? [[relation.model, moduleOf(root, relation.model)] as const] : [])),
  );
  const { access, scoped = false } = request;
  const plan: ModulePlan = { names, fields, access, scoped, modulesOf };
  const sources = Object.entries(sourceFiles(plan)).map(([file, text]) => [`src/modules/${names.kebab}/${file}`, text]);
  const config = 'src/app.config.ts';
  return {
    names,
    fields,
    migration: request.migration ?? `add_${names.table}`,
    files: {
      'prisma/models.prisma': models,
      ...Object.fromEntries(sources),
      [config]: withModule(readFileSync(join(root, config), 'utf8'), names.kebab, prefix),
      ...testFiles(plan, prefix),
    },
  };
}

/** Writes a planned module and its migration; returns the files of the migration. */
export async function writeModule(root: string, { files, migration }: PlannedModule): Promise<string[]> {
  writeFiles(root, files);
  const models = join(root, 'prisma/models.prisma');
  return createMigration(migration, { models, directory: join(root, 'prisma/migrations') });
}

/** Files of a planned module that are there and would be overwritten; others are changed in one place. */
export function overwritten(root: string, { files }: PlannedModule): string[] {
  const changed = ['prisma/models.prisma', 'src/app.config.ts'];
  return Object.keys(files).filter((file) => !changed.includes(file) && existsSync(join(root, file)));
}

/** The module whose schema declares the list policy of a model. */
function moduleOf(root: string, model: string): string | undefined {
  const directory = join(root, 'src/modules');
  const declares = (file: string) =>
    new RegExp(`listPolicy\\(\\s*'${model}'`).test(readFileSync(join(directory, file), 'utf8'));
  const files = existsSync(directory) ? (readdirSync(directory, { recursive: true }) as string[]) : [];
  return files.find((file) => file.endsWith('.schema.ts') && declares(file))?.split(sep)[0];
}
