/** Where the global setup builds the service and the fixtures that are services, from the root of the project. */
export const buildDirectory = 'dist-test';

/** The program of the service. */
export const builtService = `${buildDirectory}/main.js`;

/** The program of a service in test/fixtures. */
export function builtFixture(name: 'observed' | 'relay' | 'trouble'): string {
  return `${buildDirectory}/test/fixtures/${name}/main.js`;
}
