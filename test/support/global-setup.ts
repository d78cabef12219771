import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { seed } from '../../prisma/seed.ts';
import { buildService } from '../../src/chassis/cli/build/build-service.ts';
import type { OrmClient } from '../../src/chassis/database/client/orm-types.ts';
import { templateDatabases } from '../../src/chassis/testing/template-databases.ts';

const builtForTests = join(import.meta.dirname, '../../dist-test');

/** Builds the service of the tests of the chassis, brings a PostgreSQL server along and makes one migrated, seeded template per database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const fixtures = ['test/fixtures/{deeds,observed,relay,trouble}/**/*.ts'];
  // Tables of jobs are in a database where some module has jobs.
  const withJobs = join(import.meta.dirname, '../fixtures/modules-jobs');
  const fill = (orm: OrmClient) => seed(orm, { size: 'small', accounts: true });
  const [end] = await Promise.all([
    templateDatabases(project, fill, withJobs),
    buildService({ source: 'test/fixtures/service', outDir: builtForTests, more: fixtures }),
  ]);
  return end;
}
