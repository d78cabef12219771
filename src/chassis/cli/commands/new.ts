import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { createMigration } from '../../database/migrations/create-migration.ts';
import { orUndo, writeFiles } from '../file-changes.ts';
import { planModule, writeModule } from '../module/generate-module.ts';
import { baseFiles } from '../service/base-files.ts';
import { installPackages } from '../service/install-packages.ts';
import type { Auth, ServicePlan } from '../service/package-file.ts';
import { copyTarball, type PackageSource, packageSource } from '../service/package-source.ts';
import { referenceService } from '../service/reference-service.ts';
import { ask, UsageError } from '../terminal.ts';

const options = {
  name: { type: 'string' },
  database: { type: 'string' },
  auth: { type: 'string' },
  sample: { type: 'boolean' },
  package: { type: 'string' },
  install: { type: 'boolean', default: true },
  yes: { type: 'boolean', default: false },
} as const;

interface Answers extends Omit<ServicePlan, 'slipway'> {
  /** A module to begin with, the reference service, or nothing. */
  readonly sample: 'module' | 'reference' | 'none';
}

/**
 * Makes a service in a new directory. The directory appears whole or not at all.
 *
 * @throws UsageError for what cannot be made, Error where npm cannot install its packages
 */
export async function newService(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ options, args, allowPositionals: true, allowNegative: true });
  const [given, ...more] = positionals;
  if (given === undefined || more.length > 0) {
    throw new UsageError(
      `Expected one directory, such as shop; got ${positionals.length === 0 ? 'none' : positionals.join(' ')}.`,
    );
  }
  const root = resolve(given);
  if (existsSync(root) && readdirSync(root).length > 0) {
    throw new Error(`Expected a new or empty directory, found files in ${root}. Nothing is changed.`);
  }
  const source = packageSource(values.package);
  const answers = await answersOf(values, basename(root));
  await makeWhole(root, (directory) => write(directory, answers, source));
  console.log(`${answers.name} is in ${relative(process.cwd(), root) || '.'}.`);
  if (values.install) install(root);
  const enter = root === process.cwd() ? '' : `cd ${relative(process.cwd(), root)}\n`;
  console.log(`\n${enter}${values.install ? '' : 'npm install\n'}npm test\nnpm start`);
}

async function answersOf(values: Record<string, unknown>, directory: string): Promise<Answers> {
  const answer = (given: unknown, question: string, fallback: string) =>
    given === undefined && !values['yes'] ? ask(question, fallback) : String(given ?? fallback);
  const name = await answer(values['name'], 'Name of the service', directory);
  if (!/^[a-z][a-z0-9-]*$/.test(name)) {
    throw new UsageError(
      `Expected a name of lower-case letters, digits and "-", got "${name}"; name another by --name.`,
    );
  }
  const database = await answer(values['database'], 'Databases, both or postgresql', 'both');
  if (database !== 'both' && database !== 'postgresql') {
    throw new UsageError(`Expected --database both or --database postgresql, got "${database}".`);
  }
  if (values['sample'] === true) return referenceAnswers(name, database, values['auth']);
  const auth = await answer(values['auth'], 'Who may call, token, api-keys, issuer or none', 'token');
  if (!isAuth(auth)) {
    throw new UsageError(`Expected --auth token, --auth api-keys, --auth issuer or --auth none, got "${auth}".`);
  }
  const hasModule =
    values['sample'] !== false && /^y(es)?$/i.test(await answer(undefined, 'A module to begin with', 'yes'));
  return { name, database, auth, sample: hasModule ? 'module' : 'none' };
}

/** @throws UsageError for what the reference service decides by itself */
function referenceAnswers(name: string, database: ServicePlan['database'], auth: unknown): Answers {
  if (database === 'both' && auth === undefined) return { name, database, auth: 'accounts', sample: 'reference' };
  throw new UsageError(
    'Expected --sample without --auth and --database: the reference service has accounts and both databases.',
  );
}

function isAuth(text: string): text is Auth {
  return ['token', 'api-keys', 'issuer', 'none'].includes(text);
}

/** Makes a directory beside it first, which then takes its name. */
async function makeWhole(root: string, make: (directory: string) => Promise<void>): Promise<void> {
  mkdirSync(dirname(root), { recursive: true });
  let directory: string | undefined;
  const whole = async () => {
    directory = mkdtempSync(join(dirname(root), `.${basename(root)}-`));
    await make(directory);
    // It was made for its maker only.
    chmodSync(directory, 0o755);
    if (existsSync(root)) rmdirSync(root);
    renameSync(directory, root);
  };
  await orUndo(whole, () => directory && rmSync(directory, { recursive: true, force: true }));
}

async function write(directory: string, { sample, ...answers }: Answers, source: PackageSource): Promise<void> {
  const plan: ServicePlan = { ...answers, slipway: source.spec };
  const { 'test/service.test.ts': test = '', ...files } = baseFiles(plan);
  copyTarball(source, directory);
  if (sample === 'reference') return writeFiles(directory, { ...files, ...referenceService() });
  writeFiles(directory, { ...files, 'test/service.test.ts': test });
  const migration = 'init';
  if (sample === 'module') {
    const access = plan.auth === 'none' ? 'open' : 'public';
    const request = {
      name: 'category',
      fields: ['name:string!'],
      access,
      scoped: plan.auth === 'api-keys',
      migration,
    } as const;
    await writeModule(directory, planModule(directory, request));
  } else {
    const models = join(directory, 'prisma/models.prisma');
    await createMigration(migration, { models, directory: join(directory, 'prisma/migrations') });
  }
}

function install(root: string): void {
  // The versions are those of the chassis: of a warning about them, who makes a service has nothing to do.
  if (!installPackages(root, { quiet: true }))
    throw new Error(`npm could not install the packages of ${root}; its files are there. Run "npm install" in it.`);
}
