import { describe, expect, it } from 'vitest';
import { withExamples } from '../../../src/chassis/openapi/with-examples.ts';

const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const where = {
  name: 'where',
  in: 'query',
  content: { 'application/json': { schema: {}, example: { of: 'schema' } } },
};
const body = { required: true, content: { 'application/json': { schema: { type: 'object' } } } };
const change = { operationId: 'change', parameters: [id, where], requestBody: body, responses: {} };
const end = { operationId: 'end', description: 'Ends it.', parameters: [id], responses: {} };
const document = { openapi: '3.0.0', paths: { '/things/{id}': { put: change, delete: end } } };

/** The two operations of the document with examples. */
function offered(examples: Parameters<typeof withExamples>[1]) {
  const { paths } = withExamples(document, examples) as typeof document;
  return paths['/things/{id}'];
}

describe('withExamples', () => {
  it('offers values for the path, for JSON in the query and for the body', () => {
    const { put } = offered({ change: { path: { id: '7' }, query: { where: { a: 1 } }, body: { name: 'x' } } });
    expect(put.parameters[0]).toEqual({ ...id, example: '7' });
    expect(put.parameters[1]).toMatchObject({ content: { 'application/json': { example: { a: 1 } } } });
    expect(put.requestBody.content['application/json']).toMatchObject({ example: { name: 'x' } });
  });

  it('offers values for headers, and for nothing else of that name', () => {
    const ifMatch = { name: 'If-Match', in: 'header', schema: { type: 'string', example: '"1"' } };
    const paths = { '/things': { put: { operationId: 'change', parameters: [ifMatch, id], responses: {} } } };
    const example = { headers: { 'If-Match': '"7"', id: 'x' } };
    const { paths: offered } = withExamples({ ...document, paths }, { change: example }) as { paths: typeof paths };
    expect(offered['/things'].put.parameters).toEqual([{ ...ifMatch, example: '"7"' }, id]);
  });

  it('says in the description of an operation why it has no example', () => {
    const { delete: operation } = offered({ end: { none: 'Copy an id.' } });
    const description = 'Ends it.\n\nNo example can be sent as it is. Copy an id.';
    expect(operation).toEqual({ ...end, 'x-no-example': 'Copy an id.', description });
  });

  it('leaves other operations and the document that it got as they were', () => {
    const before = structuredClone(document);
    expect(offered({ change: { path: { id: '7' } }, gone: { body: 1 } }).delete).toEqual(end);
    expect(document).toEqual(before);
  });
});
