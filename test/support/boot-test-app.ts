import { startTestService, type TestServiceOptions } from 'slipway/testing';
import { appConfig, fixtureModules } from '../fixtures/service/app.config.ts';
import { TestApp } from './test-app.ts';

export { TestApp };

/**
 * Boots the service of test/fixtures/service on a fresh, seeded database and a free port, and closes it at the end of the
 * test that called it, or of the file when called at its top. A file boots as many as it likes, side by side.
 */
export async function bootTestApp(options: TestServiceOptions = {}): Promise<TestApp> {
  return new TestApp(await startTestService({ appConfig, modulesDirectory: fixtureModules, ...options }));
}
