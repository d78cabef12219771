import express, { type RequestHandler, type Response, Router, type RouterOptions } from 'express';
import fc from 'fast-check';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { askRouters, publicAccess } from '../../../../src/chassis/http/pipeline/middleware.ts';
import { pathsOf, pathsOfTemplates } from '../../../../src/chassis/http/pipeline/router-paths.ts';

const say =
  (what: string): RequestHandler =>
  (_req, res) =>
    void res.json({ what });
const pass: RequestHandler = (_req, _res, next) => next();

/** What answers, asked in turn by this service and as Express itself would. */
async function answers(routers: readonly Router[], path: string) {
  const asked = express().use('/api', askRouters(routers.map((router) => ({ router, paths: pathsOf(router) }))));
  const plain = express();
  for (const router of routers) plain.use('/api', router);
  const [own, expected] = await Promise.all([asked, plain].map((app) => request(app).get(path)));
  return { own: own?.body.what ?? own?.status, expected: expected?.body.what ?? expected?.status };
}

describe('askRouters', () => {
  const routers = [
    Router().get('/users', say('users')).get('/users/:id', say('user')),
    Router().use(publicAccess).get('/stock/:id.json', say('stock')).get('/files/*path', say('file')),
    Router().use('/shop', Router().get('/livez', say('shop')).get('/', say('index'))),
    Router().use('/closed', say('guard')),
    Router().get(/more$/, say('expression')).get(['/one', '/other'], say('both')),
    Router({ strict: true }).get('/strict', say('strict')),
    Router().get('/optional{/:part}', say('optional')),
    Router().get('/stock/:a-:b', say('pair')),
    Router().get('/sizes/:größe', say('size')).get('/prices/:$id', say('price')),
    Router().get('/quoted/:"an id"', say('quoted')),
    Router().all('/', say('root')),
  ];

  it.each([
    ...[
      '/api',
      '/api/',
      '/api/users',
      '/API/USERS/',
      '/api/users/7',
      '/api/users/7/8',
      '/api/users/%20',
      '/api/nothing',
    ],
    ...['/api/stock/7.json', '/api/stock/7', '/api/stock/1-2', '/api/files/a/b', '/api/shop', '/api/shop/livez'],
    ...['/api/shop/none', '/api/closed', '/api/closed/x', '/api/closedx', '/api/x/more', '/api/one/', '/api/other'],
    ...[
      '/api/strict',
      '/api/strict/',
      '/api/optional',
      '/api/optional/x',
      '/api//users',
      '/apiusers',
      '/api/users?x=/7',
    ],
    ...['/api//', '/api///', '/api/shop//', '/api/users//', '/api/sizes/7', '/api/prices/7', '/api/quoted/7'],
  ])('has %s answered by whom Express would ask', async (path) => {
    const { own, expected } = await answers(routers, path);
    expect(own).toEqual(expected);
  });

  it('goes on where a router passes, and hands on what one fails with', async () => {
    expect(await answers([Router().get('/a', pass), Router().get('/a', say('second'))], '/api/a')).toMatchObject({
      own: 'second',
    });
    const leave: RequestHandler = (_req, _res, next) => next('router');
    expect((await answers([Router().get('/a', leave), Router().get('/a', say('second'))], '/api/a')).own).toBe(
      'second',
    );
    const fail: RequestHandler = () => {
      throw Object.assign(new Error('no'), { status: 418 });
    };
    expect((await answers([Router().get('/a', fail), Router().get('/a', say('second'))], '/api/a')).own).toBe(418);
  });
});

describe('askRouters, for any routes and paths', () => {
  const text = fc.constantFrom('a', 'B', 'a.b', 'é', '%61', '%2F', '-', '$', '^', '~', '|');
  const parameter = fc.constantFrom(':id', ':größe', ':$id', ':_', ':ℵ', 'v:id', ':id.a', ':id-x');
  const special = fc.constantFrom(':"an id"', ':a-:b', '*rest', 'a{:more}', String.raw`\\:a`);
  const segment = fc.oneof({ weight: 4, arbitrary: text }, { weight: 3, arbitrary: parameter }, special);
  const end = fc.constantFrom('', '', '', '/', '//');
  const pathOf = (part: fc.Arbitrary<string>, most: number) =>
    fc.tuple(fc.array(part, { maxLength: most }), end).map(([parts, last]) => `/${parts.join('/')}${last}`);
  const template = fc.oneof(pathOf(segment, 3), fc.constantFrom('', '/', '//'));
  const mount = fc.oneof(pathOf(fc.oneof(text, parameter), 2), fc.constantFrom('/', ''));
  const options = fc.record({ strict: fc.boolean(), caseSensitive: fc.boolean() });
  const plain = fc.record({ options, routes: fc.array(template, { minLength: 1, maxLength: 3 }) });
  const nested = fc.record({ options, at: mount, routes: plain.map(({ routes }) => routes), inner: options });
  const asked = pathOf(fc.oneof(text, fc.constantFrom('v1', 'x.a', 'x-x', 'aa', 'b', '')), 4);

  it('has who answers decided by Express', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(plain, nested), { minLength: 1, maxLength: 4 }),
        fc.array(asked, { minLength: 8, maxLength: 8 }),
        async (tables, paths) => {
          const routers = tables.map((table, index) => routerOf(table, String(index)));
          const own = Router().use('/api', askRouters(routers.map((router) => ({ router, paths: pathsOf(router) }))));
          const expected = Router().use('/api', ...routers);
          for (const path of paths.map((path) => `/api${path}`)) {
            expect(await answerTo(own, path), path).toBe(await answerTo(expected, path));
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  interface Table {
    options: RouterOptions;
    routes: string[];
    at?: string;
    inner?: RouterOptions;
  }

  function routerOf({ options: own, routes, at, inner }: Table, name: string): Router {
    const router = Router(at === undefined ? own : inner);
    for (const [index, route] of routes.entries()) router.get(route, say(`${name}.${index} ${route}`));
    return at === undefined ? router : Router(own).use(at, router);
  }

  /** What answers a GET; `none` where nothing does. */
  function answerTo(router: Router, url: string): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const req = Object.assign(Object.create(express.request), { method: 'GET', url, headers: {} });
    const res = { json: resolve } as unknown as Response;
    router(req, res, (error?: unknown) => (error ? reject(error) : resolve({ what: 'none' })));
    return promise.then((answer) => (answer as { what: string }).what);
  }
});

describe('pathsOf', () => {
  it('leaves out what answers nothing, so that a router is asked for its routes alone', () => {
    const failed = (_error: unknown, _req: unknown, _res: unknown, next: () => void) => next();
    const paths = pathsOf(Router().use(publicAccess).use(failed).get('/users', say('users')));
    expect(['/users', '/users/', '/Users', '/users/7', '/other', '/'].map((path) => paths.test(path))).toEqual([
      ...[true, true, true, false, false, false],
    ]);
    expect(pathsOf(Router()).test('/')).toBe(false);
  });
});

describe('pathsOfTemplates', () => {
  it('takes every path that a template stands for', () => {
    const paths = pathsOfTemplates(['/', '/products/:id', '/products/a.b']);
    expect(['/', '/products/7/', '/products/a.b', '/products', '/x'].map((path) => paths.test(path))).toEqual([
      ...[true, true, true, false, false],
    ]);
    expect(pathsOfTemplates(['/files/*path']).test('/anything')).toBe(true);
  });
});
