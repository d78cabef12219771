import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bootTestApp } from '../../support/boot-test-app.ts';

const { service } = await bootTestApp({
  modulesDirectory: join(import.meta.dirname, '../../fixtures/modules-undone'),
  configure: (config) => ({
    ...config,
    modules: ['without-di', 'failing-di'].map((name) => ({ name, enabled: true })),
  }),
});

it.each([
  ['without-di', 'Module without-di has no di.ts.'],
  ['failing-di', 'The di file of module failing-di failed, for the reason that was logged before.'],
])('a dependency that is missing in %s is reported with what its own module lacks', (module, hint) => {
  const failures = service.startUpReport.failures.filter((failure) => failure.module === module);
  const message = String(failures.find(({ loader }) => loader === 'loadRoutes')?.error);
  expect(message).toContain('Expected a dependency named askedController; found none');
  expect(message).toContain(hint);
});
