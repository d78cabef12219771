import { basename, extname, join, resolve } from 'node:path';

const own = join(import.meta.dirname, '../..');

/** The directory of the service: that of the load tests, or the working directory where they come with the package, in its `lib`. */
export const serviceDirectory = basename(own) === 'lib' ? resolve() : own;

/** Absolute path of a scenario, as k6 takes it. */
export function scenarioFile(scenario: string): string {
  return join(own, `load-tests/scenarios/${scenario}${extname(import.meta.filename)}`);
}
