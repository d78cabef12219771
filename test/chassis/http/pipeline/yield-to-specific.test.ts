import express, { type Request, type Response, Router } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { routesOf } from '../../../../src/chassis/http/pipeline/routes-of.ts';
import { shapeOf, yieldToSpecific } from '../../../../src/chassis/http/pipeline/yield-to-specific.ts';
import { docsOf } from '../../../../src/chassis/openapi/documented.ts';

const say = (what: string) => (req: Request, res: Response) => void res.json({ what, params: req.params });

/** An app with these routes, each in a router of its own and in this order. */
function appWith(...paths: string[]) {
  const app = express();
  const routers = paths.map((path) => Router().get(path, say(path)));
  yieldToSpecific(routers.flatMap((router) => routesOf(router, '/api')));
  for (const router of routers) app.use('/api', router);
  return app;
}

const answerTo = async (app: express.Express, path: string) => (await request(app).get(path)).body.what;

describe('a more specific route', () => {
  it.each([
    [['/products/:id', '/products/top'], '/api/products/top', '/products/top'],
    [['/products/:id', '/products/top'], '/api/products/TOP/', '/products/top'],
    [['/products/:id', '/products/top'], '/api/products/top?x=1', '/products/top'],
    [['/products/:id', '/products/export.csv'], '/api/products/export.csv', '/products/export.csv'],
    [['/products/:id', '/products/export.csv'], '/api/products/exportXcsv', '/products/:id'],
    [['/products/:id', '/products/top'], '/api/products/topmost', '/products/:id'],
    [['/:a/:b', '/:a/top', '/products/top'], '/api/products/top', '/products/top'],
    [['/:a/:b', '/:a/top', '/products/top'], '/api/others/top', '/:a/top'],
    [['/products/:id/:part', '/products/:id/parts'], '/api/products/7/parts', '/products/:id/parts'],
    [['/products/:id', '/products/v:number'], '/api/products/v7', '/products/v:number'],
    [['/products/:id', '/products/v:number'], '/api/products/7', '/products/:id'],
    [['/trips/:id', '/trips/:from-:to'], '/api/trips/a-b', '/trips/:id'],
    [['/products/top', '/products/:id'], '/api/products/top', '/products/top'],
  ])('answers where %j are declared in this order: %s', async (paths, path, expected) => {
    expect(await answerTo(appWith(...paths), path)).toBe(expected);
  });

  it('wins only for its own method, and leaves the middleware between both where it is', async () => {
    const router = Router();
    const steps: string[] = [];
    router.get('/products/:id', say('one'));
    router.use((_req, _res, next) => {
      steps.push('guard');
      next();
    });
    router.post('/products/top', say('post'));
    router.get('/products/best', say('best'));
    yieldToSpecific(routesOf(router, ''));
    const app = express().use(router);
    expect(await answerTo(app, '/products/top')).toBe('one');
    expect(steps).toEqual([]);
    expect(await answerTo(app, '/products/best')).toBe('best');
    expect(steps).toEqual(['guard']);
  });

  it('keeps what a guard before the other route says of itself', () => {
    const guard = Object.assign(say('guard'), { openapi: { statuses: [401] } });
    const router = Router().get('/products/:id', guard).get('/products/top', say('top'));
    const [route] = routesOf(router, '');
    yieldToSpecific(routesOf(router, ''));
    expect(docsOf([route?.route.stack[0]?.handle])).toMatchObject({ security: [], statuses: [401] });
    expect(route?.route.stack[0]?.handle).not.toBe(guard);
  });
});

describe('the shape of a path', () => {
  it('is the same for parameters of other names', () => {
    expect(shapeOf('/a/:id/b')).toBe(shapeOf('/a/:name/b'));
    expect(shapeOf('/a/:id')).not.toBe(shapeOf('/a/id'));
  });
});
