import { Validator } from '@seriousme/openapi-schema-validator';
import express from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { loadOpenApi } from '../../../src/chassis/loaders/load-open-api.ts';
import { routersOn } from '../../../src/chassis/loaders/mounted-routers.ts';
import { describeApi } from '../../../src/chassis/openapi/describe-api.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';
import { routesOn } from '../../support/routes-on.ts';

const app = await bootTestApp();
const info = { title: 'Slipway', version: '1.0.0', description: 'All of it', serverUrl: '/' };

interface Documented extends Record<string, unknown> {
  openapi: string;
  info: object;
  servers: object[];
  tags: { name: string }[];
  paths: Record<string, Record<string, { tags: string[]; security?: object[]; responses: object }>>;
}

const { body: document } = (await request(app.url).get('/api-docs.json').expect(200)) as { body: Documented };

describe('loadOpenApi', () => {
  it('serves a valid document of version 3.0.0', async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
    expect(document.openapi).toBe('3.0.0');
    expect(document.info).toMatchObject({
      title: expect.any(String),
      version: '1.0.0',
      description: expect.any(String),
    });
    expect(document.servers).toEqual([{ url: '/' }]);
  });

  it('serves the page', async () => {
    await request(app.url).get('/api-docs').expect(200).expect('content-type', /html/);
  });

  it('describes every route that is mounted, and no other', () => {
    const mounted = routesOn(app.express).map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(mounted.sort());
  });

  it('finds every route documented by its author, and every documented path mounted', () => {
    expect(describeApi(routersOn(app.express), info).problems).toEqual([]);
  });

  it('lists tags marked by x-last after all others, whatever the order of the modules', () => {
    expect(document.tags.map(({ name }) => name)).toEqual(['Users', 'Catalog', 'Orders', 'Access']);
  });

  it('shows which routes need a token', () => {
    expect(document.paths['/api/v1/products']?.post?.security).toEqual([{ bearer: [] }]);
    expect(document.paths['/api/v1/products']?.post?.responses).toMatchObject({ 401: {}, 403: {} });
    expect(document.paths['/api/v1/products']?.get?.security).toBeUndefined();
  });

  it('works alone, on an app without routes', async () => {
    const alone = express();
    await loadOpenApi(alone);
    const { body } = await request(alone).get('/api-docs.json').expect(200);
    expect(body.paths).toEqual({});
  });
});
