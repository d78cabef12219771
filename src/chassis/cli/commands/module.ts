import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { allOrNothing } from '../file-changes.ts';
import { generateClients } from '../generate-clients.ts';
import { overwritten, planModule, writeModule } from '../module/generate-module.ts';
import type { Access } from '../module/source-files.ts';
import { confirm, UsageError } from '../terminal.ts';

const options = {
  plural: { type: 'string' },
  access: { type: 'string' },
  force: { type: 'boolean', default: false },
} as const;

/**
 * Adds a module to the service of the working directory. Where it fails, the service is as it was.
 *
 * @throws UsageError for what cannot be made, Error with what the models lack
 */
export async function addModule(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ options, args, allowPositionals: true });
  const [name, ...fields] = positionals;
  if (name === undefined) throw new UsageError('Expected the name of the module, such as product; got none.');
  const root = process.cwd();
  if (!existsSync(join(root, 'prisma/models.prisma')) || !existsSync(join(root, 'src/app.config.ts'))) {
    throw new Error(
      `Expected prisma/models.prisma and src/app.config.ts in ${root}; run this in the directory of a service.`,
    );
  }
  const access = accessOf(root, values.access);
  const scoped = guardsOf(root) === 'scopes';
  const planned = planModule(root, { name, fields, plural: values.plural, access, scoped });
  const there = overwritten(root, planned);
  if (there.length > 0 && !values.force && !(await confirm(`Overwrite ${there.join(', ')}?`))) {
    throw new Error(`Expected new files, found ${there.join(', ')}. Nothing is changed; --force overwrites them.`);
  }
  const migrations = await allOrNothing(
    root,
    async () => {
      const written = await writeModule(root, planned);
      generateClients();
      return written;
    },
    () => generateClients(),
  );
  const files = [...Object.keys(planned.files), ...migrations.map((file) => file.replace(`${root}/`, ''))];
  console.log(
    `Module ${planned.names.kebab}, at /api/v1/${planned.names.plural}:\n${files.map((file) => `  ${file}`).join('\n')}`,
  );
  console.log(`Read the migration, then: npm test -- test/modules/${planned.names.kebab}`);
}

/** @throws UsageError for an access that the service has no guards for */
function accessOf(root: string, given?: string): Access {
  const isGuarded = guardsOf(root) !== undefined;
  const access = given ?? (isGuarded ? 'public' : 'open');
  if (access !== 'public' && access !== 'guarded' && access !== 'open') {
    throw new UsageError(`Expected --access public, --access guarded or --access open, got "${access}".`);
  }
  if (access === 'open' || isGuarded) return access;
  throw new UsageError(
    `Expected guards for --access ${access}: a module that registers "auth", such as those of slipway new; found none.`,
  );
}

/** What the guards ask for that a module of the service registers under the name that generated routes use; undefined without any. */
function guardsOf(root: string): 'roles' | 'scopes' | undefined {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const file = globSync('src/modules/*/di.ts', { cwd: root }).find((one) => /^\s*auth:/m.test(read(one)));
  if (file === undefined) return undefined;
  const sources = globSync(join(dirname(file), '*.ts'), { cwd: root });
  return sources.some((one) => /\bscopes\s*[:=]\s*\[\s*'read',\s*'write'/.test(read(one))) ? 'scopes' : 'roles';
}
