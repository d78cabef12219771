import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { withEnvFile } from '../../src/chassis/config/environment.ts';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';
import { fillDatabase } from '../../src/chassis/testing/fill-database.ts';
import { startPostgres } from '../../src/chassis/testing/postgres.ts';
import { startPaymentProvider } from '../servers/payment-provider.ts';
import { serviceDirectory } from './places.ts';

const logFile = join(serviceDirectory, '.cache/load/service.log');
const sourceFile = 'src/main.ts';
const bundleFile = 'dist/main.js';
const seedFile = join(serviceDirectory, 'prisma/seed.ts');
/** Records of each model, of a service without sample data. */
const recordCounts = { small: 1_000, full: 100_000 };

/** Credentials, as k6 takes them. */
type Account = Readonly<Record<string, string>>;

/** A service that was started for a run. */
export interface StartedService {
  readonly url: string;
  readonly pid: number;
  /** A login with every right, of a database that was made for the run. */
  readonly account: Account | undefined;
}

/**
 * Starts the service as in production, with sample data: on DATABASE_URL, or on a database of its own. What was started
 * is put on `opened`, to be ended with it.
 */
export async function startService(
  opened: AsyncDisposableStack,
  { database, size, bundle }: { database: 'postgresql' | 'sqlite'; size: 'small' | 'full'; bundle: boolean },
): Promise<StartedService> {
  const file = bundle ? builtFile() : sourceFile;
  const given = process.env.DATABASE_URL;
  const url =
    given ?? (database === 'sqlite' ? `file:${join(temporaryFolder(opened), 'load.db')}` : await ownDatabase(opened));
  await fill(url, size, given === undefined);
  return { ...(await serve(opened, { DATABASE_URL: url }, file)), account: given ? undefined : await account() };
}

/**
 * Migrates a database and stores sample data in it: that of prisma/seed.ts, of which accounts whose password everyone knows
 * are there outside production only, or where there is none records of every model.
 */
export async function fill(url: string, size: 'small' | 'full', accounts: boolean): Promise<void> {
  mkdirSync(join(logFile, '..'), { recursive: true });
  const env = { ...process.env, NODE_ENV: accounts ? 'development' : 'production', DATABASE_URL: url, ...secrets() };
  await command(env, 'migrate');
  if (existsSync(seedFile)) await command(env, 'seed', '--size', size);
  else await fillDatabase(url, recordCounts[size]);
}

function secrets() {
  return { AUTH_JWT_SECRET: secret(), CURSOR_SECRET: secret() };
}

function secret(): string {
  return randomBytes(32).toString('base64');
}

/** @throws Error where nothing was built */
function builtFile(): string {
  if (existsSync(join(serviceDirectory, bundleFile))) return bundleFile;
  throw new Error(`Expected ${bundleFile}, which \`npm run build\` makes; found none.`);
}

/**
 * Starts the service as in production on a database that has its tables, to be ended with `opened`.
 *
 * @param file what Node runs. Default: the sources
 */
export async function serve(
  opened: AsyncDisposableStack,
  variables: Readonly<Record<string, string>>,
  file = sourceFile,
): Promise<Pick<StartedService, 'url' | 'pid'>> {
  const [port, internalPort] = [await freePort(), await freePort()];
  const env = {
    // Orders are there where somebody takes payments.
    ...{ PAYMENTS_URL: await startPaymentProvider(opened), PAYMENTS_WEBHOOK_SECRET: secret() },
    ...process.env,
    ...{ NODE_ENV: 'production', ...secrets(), ...variables },
    LOCAL_UPLOAD_DIR: join(temporaryFolder(opened), 'uploads'),
    HOST: '127.0.0.1',
    PORT: String(port),
    INTERNAL_HOST: '127.0.0.1',
    INTERNAL_PORT: String(internalPort),
    SHUTDOWN_ACCEPT_MS: '0',
    // All users of a load test come from one address.
    RATE_LIMIT_ENABLED: 'false',
  };
  const service = main(env, file);
  opened.defer(() => end(service));
  await untilReady(service, `http://127.0.0.1:${internalPort}/readyz`);
  return { url: `http://127.0.0.1:${port}`, pid: service.pid ?? 0 };
}

/** Who may do everything: the account of the sample data, else the holder of the service's own token. */
async function account(): Promise<Account | undefined> {
  const { demoAccount } = existsSync(seedFile) ? await import(pathToFileURL(seedFile).href) : {};
  const [LOAD_EMAIL, LOAD_PASSWORD] = String(demoAccount ?? '').split(', ');
  if (LOAD_EMAIL && LOAD_PASSWORD) return { LOAD_EMAIL, LOAD_PASSWORD };
  const [TOKEN] = (withEnvFile(process.env)['AUTH_TOKEN'] ?? '').split(',');
  return TOKEN ? { TOKEN } : undefined;
}

function temporaryFolder(opened: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-load-'));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function ownDatabase(opened: AsyncDisposableStack): Promise<string> {
  const postgres = await startPostgres();
  opened.defer(() => postgres.stop());
  return postgres.createDatabase('load');
}

function main(env: NodeJS.ProcessEnv, file: string, ...args: string[]): ChildProcess {
  const log = openSync(logFile, args.length === 0 ? 'w' : 'a');
  return spawn(process.execPath, [file, ...args], { cwd: serviceDirectory, env, stdio: ['ignore', log, log] });
}

async function command(env: NodeJS.ProcessEnv, ...args: string[]): Promise<void> {
  const code = await new Promise((resolve) => main(env, sourceFile, ...args).once('exit', resolve));
  if (code !== 0) throw new Error(`\`${args.join(' ')}\` ended with ${code}; ${logFile} says why.`);
}

async function untilReady(service: ChildProcess, url: string): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await delay(100)) {
    if (service.exitCode !== null) break;
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
  }
  throw new Error(`The service was not ready within 30 seconds; ${logFile} says why.`);
}

async function end(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null) return;
  const exited = new Promise((resolve) => service.once('exit', resolve));
  service.kill('SIGTERM');
  const killed = setTimeout(() => service.kill('SIGKILL'), 30_000);
  await exited;
  clearTimeout(killed);
}
