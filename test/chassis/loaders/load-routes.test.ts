import { join } from 'node:path';
import express, { type Express } from 'express';
import request from 'supertest';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ModuleConfig } from '../../../src/chassis/config/app-config.ts';
import { loadDI } from '../../../src/chassis/loaders/load-di.ts';
import { loadRoutes } from '../../../src/chassis/loaders/load-routes.ts';
import { createService, type Service } from '../../../src/chassis/service.ts';
import { routesOn } from '../../support/routes-on.ts';

const modulesDirectory = join(import.meta.dirname, '../../fixtures/modules');
let service: Service;

async function appWith(...modules: ModuleConfig[]): Promise<Express> {
  const app = express();
  await service.run(async () => {
    await loadDI(modules.filter(({ enabled }) => enabled).map(({ name }) => name));
    await loadRoutes(app, modules);
  });
  return app;
}

const plain: ModuleConfig = { name: 'plain', enabled: true };

function pathsOf(app: Express): string[] {
  return routesOn(app).map(({ path }) => path);
}

beforeEach(() => {
  const env = { NODE_ENV: 'test', LOG_LEVEL: 'silent' };
  service = createService({ modules: [], server: { port: 0 } }, { env, modulesDirectory });
});

describe('loadRoutes (spec.md: Registration rules)', () => {
  it('rule 1: registers every route file of an enabled module and gives it the cradle', async () => {
    const app = await appWith(plain);
    expect(pathsOf(app)).toEqual(['/farewells', '/farewells/fail', '/greetings', '/greetings/:id']);
    expect((await request(app).get('/greetings')).body).toEqual({ greeting: 'hello' });
  });

  it('rule 4: puts routesPrefix in front of every route of the module', async () => {
    const app = await appWith({ ...plain, routesPrefix: '/api/v1' });
    expect((await request(app).get('/api/v1/greetings/7')).body).toEqual({ id: '7' });
    expect((await request(app).get('/greetings/7')).status).toBe(404);
    expect(pathsOf(app)).toContain('/api/v1/greetings/:id');
  });

  it.each(['greeting', 'greeting.routes', 'greeting.routes.ts'])(
    'rule 2: loads only the file that includeRoutes names as %s',
    async (name) => {
      const app = await appWith({ ...plain, includeRoutes: [name] });
      expect(pathsOf(app)).toEqual(['/greetings', '/greetings/:id']);
    },
  );

  it('rule 3: loads all files but those that excludeRoutes names', async () => {
    const app = await appWith({ ...plain, excludeRoutes: ['greeting.routes'] });
    expect(pathsOf(app)).toEqual(['/farewells', '/farewells/fail']);
  });

  it('rule 5: registers no route of a disabled module', async () => {
    const app = await appWith({ ...plain, enabled: false });
    expect(pathsOf(app)).toEqual([]);
    expect((await request(app).get('/greetings')).status).toBe(404);
  });

  it('keeps a route file that failed as a reason for not being ready and mounts the others', async () => {
    const app = await appWith({ name: 'broken-routes', enabled: true }, { name: 'no-di', enabled: true });
    expect(pathsOf(app)).toEqual(['/fine', '/free']);
    expect(service.startUpReport.failures).toMatchObject([
      { loader: 'loadRoutes', module: 'broken-routes', file: 'broken.routes.ts' },
    ]);
  });

  it('lets the more specific of two routes answer, whichever file is loaded first', async () => {
    const app = await appWith({ name: 'ordered', enabled: true, routesPrefix: '/api', excludeRoutes: ['twin'] });
    expect(pathsOf(app)).toEqual(['/api/things/:id', '/api/things/top']);
    expect((await request(app).get('/api/things/top')).body).toEqual({ top: true });
    expect((await request(app).get('/api/things/7')).body).toEqual({ id: '7' });
  });

  it.each<[string, ModuleConfig[], RegExp]>([
    [
      'two equal routes of one module, which no prefix tells apart',
      [{ name: 'doubled', enabled: true }],
      /found GET \/doubles in doubled\/double.routes.ts and \/doubles in doubled\/double.routes.ts; remove one\.$/,
    ],
    [
      'two routes that differ in names of parameters only',
      [{ name: 'ordered', enabled: true }],
      /found GET \/things\/:id in ordered\/any.routes.ts and \/things\/:name in ordered\/twin.routes.ts; remove one/,
    ],
    [
      'a module directory that is missing',
      [{ name: 'absent', enabled: true }],
      /Expected a directory .*absent.*found none .*create it/,
    ],
    ['a module named twice', [plain, plain], /Expected each module once .*found plain 2 times; keep one/],
    [
      'an includeRoutes name without a file',
      [{ ...plain, includeRoutes: ['nobody'] }],
      /"nobody" in includeRoutes of module plain, found farewell, greeting; correct/,
    ],
    ['an excludeRoutes name without a file', [{ ...plain, excludeRoutes: ['nobody'] }], /"nobody" in excludeRoutes/],
  ])('refuses %s with what was expected, found and to do', async (_case, modules, message) => {
    await expect(service.run(() => loadRoutes(express(), modules))).rejects.toThrow(message);
  });
});

describe('loadDI (spec.md: Handling and logging)', () => {
  it('rule 6: keeps loading the other modules after one failed, and remembers which', async () => {
    const app = await appWith({ name: 'broken-di', enabled: true }, plain);
    expect(service.startUpReport.failures).toMatchObject([{ loader: 'loadDI', module: 'broken-di', file: 'di.ts' }]);
    expect((await request(app).get('/greetings')).body).toEqual({ greeting: 'hello' });
    expect((await request(app).get('/still')).body).toEqual({ still: true });
  });

  it('skips a module without a di file', async () => {
    await service.run(() => loadDI(['no-di']));
    expect(service.startUpReport.failures).toEqual([]);
  });
});
