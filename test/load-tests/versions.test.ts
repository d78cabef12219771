import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planRuns } from '../../load-tests/run/plan.ts';
import { listRoutes } from '../../src/chassis/cli/commands/routes.ts';
import { skipped } from '../chart/chart.ts';
import { bootTestApp } from '../support/boot-test-app.ts';
import { failedChecks, measureScenario } from './run-scenario.ts';

const app = await bootTestApp({
  modulesDirectory: join(import.meta.dirname, '../fixtures/modules-versions'),
  configure: (config) => ({
    ...config,
    modules: [{ name: 'library', enabled: true, routesPrefix: ['/api/v1', '/api/v2'] }],
  }),
});
const versions = ['/api/v1/bookshelves', '/api/v2/bookshelves'];

describe('an API with two versions', () => {
  it('is listed by `slipway routes` with both, each with its list policy', () => {
    const listed = listRoutes(app.service).map(({ path, list, module }) => `${path} ${list ?? ''} ${module}`);
    expect(listed).toEqual(
      ['/api/v1', '/api/v2'].flatMap((prefix) => [
        `${prefix}/bookshelves Category library`,
        `${prefix}/bookshelves/:id Category library`,
        `${prefix}/bookshelves/paginated Category library`,
        `${prefix}/loans  library`,
      ]),
    );
  });

  it('has its load planned for both, or for the one that is named by its path', async () => {
    const scenarios = ['list-shallow', 'read-one'] as const;
    const { runs } = await planRuns(app.url, { scenarios, resources: ['all'] }, false);
    expect(runs).toEqual(scenarios.flatMap((scenario) => versions.map((resource) => ({ scenario, resource }))));
    const one = await planRuns(app.url, { scenarios, resources: ['/api/v2/bookshelves'] }, false);
    expect(one.runs.map(({ resource }) => resource)).toEqual([versions[1], versions[1]]);
    const ambiguous = planRuns(app.url, { scenarios, resources: ['bookshelves'] }, false);
    await expect(ambiguous).rejects.toThrow(`means several lists; give a path: ${versions.join(', ')}.`);
  });

  it.skipIf(skipped('k6')).each(versions)(`takes the load of its scenarios at %s${skipped('k6')}`, async (RESOURCE) => {
    const run = await measureScenario('list-deep-cursor', app.url, { RESOURCE });
    expect(run).toMatchObject({ resource: RESOURCE, failed: 0 });
    expect(failedChecks(run), run.said).toEqual([]);
    expect(run.requests).toBeGreaterThan(0);
  });
});
