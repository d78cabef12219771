import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';
import { linkedConfig, linkedModules } from '../support/linked-modules.ts';
import { readableLists } from '../support/readable-lists.ts';
import { routesOn } from '../support/routes-on.ts';
import { describeLeaks } from './describe-leaks.ts';

const app = await bootTestApp();
const lists = await readableLists(app);
const fixture = await bootTestApp({
  configure: (config) => ({ ...config, modules: [{ name: 'shelf', enabled: true, routesPrefix: '/api/v2' }] }),
  modulesDirectory: join(import.meta.dirname, '../fixtures/modules-shelf'),
});
const fixtureLists = await readableLists(fixture);
const linked = await bootTestApp({ modulesDirectory: linkedModules(), configure: linkedConfig() });
const linkedLists = (await readableLists(linked)).filter(({ path }) => path.startsWith('/api/v2'));

describe('the lists under test', () => {
  it('are those of every module that the service has', () => {
    const mounted = routesOn(app.express).filter(({ path }) => path.endsWith('/paginated'));
    expect(mounted.length).toBeGreaterThan(0);
    expect(new Set(lists.map(({ path }) => `${path}/paginated`))).toEqual(new Set(mounted.map(({ path }) => path)));
  });

  it('are asked by who is held to their policy', () => {
    const [everybody, oneself] = lists.filter(({ path }) => path === '/api/v1/users');
    expect(everybody?.client).toBe(app.as('user'));
    expect(oneself?.client).toBe(app.as('admin'));
    expect(oneself?.policy.describe().fields).toContain('email');
  });

  it('have among them those with relations to other modules', () => {
    expect(linkedLists.map(({ path }) => path)).toEqual(['/api/v2/accounts', '/api/v2/logins']);
  });

  it('have a new module among them without a word in a test', () => {
    expect(fixtureLists.map(({ module, path }) => [module, path])).toEqual([['shelf', '/api/v2/shelves']]);
  });
});

describeLeaks([...lists, ...fixtureLists, ...linkedLists]);
