import type { TestProject } from 'vitest/node';
import { databaseProgram, importFile } from '../config/layout.ts';
import type { OrmClient } from '../database/client/orm-types.ts';
import { templateDatabases } from './template-databases.ts';

/** Makes the databases that the tests of a service copy, with its sample data where `serviceTests` was told so. */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  const size = project.config.env['TEST_SEED'];
  if (!size) return templateDatabases(project);
  const { seed } = await importFile(databaseProgram('seed'));
  return templateDatabases(project, (orm: OrmClient) => seed(orm, { size, accounts: true }));
}
