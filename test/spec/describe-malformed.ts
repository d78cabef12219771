import { describe, expect, it } from 'vitest';
import { registeredPolicies } from '../../src/chassis/loaders/mounted-routers.ts';
import { routesOn } from '../support/routes-on.ts';
import type { TestApp } from '../support/test-app.ts';

const record = '01900000-0000-7000-8000-000000000000';

type Operation = { requestBody?: { content: Record<string, object> } };

/**
 * Expects of each operation that takes a body, and of each resource, how it refuses requests that are malformed.
 *
 * @param app takes bodies of 1000 bytes at most
 * @returns the operations that take a body
 */
export async function describeMalformed(app: TestApp): Promise<(readonly [method: string, path: string])[]> {
  /** Every operation that takes a body of JSON, as the API page has it. */
  const { paths } = (await app.get('/api-docs.json')).body;
  const taking = Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(([path, operations]) =>
    (['post', 'put'] as const)
      .filter((method) => operations[method]?.requestBody?.content['application/json'])
      .map((method) => [method, path.replace(/\{\w+\}/g, record)] as const),
  );

  describe.each(taking)('%s %s', (method, path) => {
    const send = (type: string, body: string) =>
      app.as('admin').send((server) => server[method](path).set('Content-Type', type).send(body));

    it('answers 413 to a body that is too large', async () => {
      expect((await send('application/json', JSON.stringify({ name: 'x'.repeat(1000) }))).status).toBe(413);
    });

    it('answers 415 to a character set that is unknown', async () => {
      expect((await send('application/json; charset=klingon', '{}')).status).toBe(415);
    });

    it.each(['{', '[]', '"text"', 'null', '{"unknown":1}', '{"__proto__":{"role":"admin"}}'])(
      'answers 400 to the body %s',
      async (body) => {
        expect((await send('application/json', body)).status).toBe(400);
      },
    );
  });

  /** The resources whose identifiers are UUIDs, each with the methods that its single records take. */
  const resources = registeredPolicies(app.express)
    .filter(({ own, policy }) => own && policy.rules.idSort.field.kind === 'uuid')
    .map(({ path, policy }) => {
      const methods = routesOn(app.express).filter((route) => route.path === `${path}/:id`);
      return [
        path,
        { policy, methods: methods.map(({ method }) => method.toLowerCase() as 'get' | 'put' | 'delete') },
      ] as const;
    });

  describe.each(resources)('%s/:id', (path, { policy, methods }) => {
    const ask = (method: 'get' | 'put' | 'delete', id: string) =>
      app.as('admin').send((server) => server[method](`${path}/${id}`).send(method === 'put' ? {} : undefined));

    it.each(['abc', '12', record.slice(1), `${record}0`])(
      'answers 404 to the id %s, as to one that no record has',
      async (id) => {
        const unknown = await ask('get', record).expectError(404, / not found$/);
        for (const method of methods) await ask(method, id).expectError(404, unknown.body.message);
        for (const method of methods) await ask(method, record).expectError(404, unknown.body.message);
      },
    );

    it('answers 400 to a filter for an id that is no UUID', async ({ skip }) => {
      const filter = policy.rules.filters.get('id');
      const equals = filter !== undefined && 'operators' in filter && filter.operators.has('equals');
      skip(!equals, 'its policy does not let the id be filtered');
      const issues = [{ path: 'where.id', message: 'expected a UUID, got "abc"' }];
      await app
        .as('admin')
        .get(path, { where: { id: 'abc' } })
        .expectError(400, 'Invalid request data', { issues });
      expect(
        await app
          .as('admin')
          .get(path, { where: { id: record.toUpperCase() } })
          .expectData(),
      ).toEqual([]);
    });

    it.each(['%E0%A4%A', '%00'])('answers 400 to the id %s', async (id) => {
      for (const method of methods) expect((await ask(method, id)).status).toBe(400);
    });
  });
  return taking;
}
