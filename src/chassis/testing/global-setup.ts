import type { TestProject } from 'vitest/node';
import { templateDatabases } from './template-databases.ts';

/** What vitest runs once, before the tests of a service. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return templateDatabases(project);
}
