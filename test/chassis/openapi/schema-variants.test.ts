import { describe, expect, it } from 'vitest';
import type { SchemaComponents } from '../../../src/chassis/openapi/schema-components.ts';
import { placeSchemas } from '../../../src/chassis/openapi/schema-variants.ts';

const components: SchemaComponents = {
  input: { Same: { type: 'string' }, Tag: { type: 'string' }, Box: { allOf: [{ $ref: '#/components/schemas/Tag' }] } },
  output: { Same: { type: 'string' }, Tag: { type: 'number' }, Box: { allOf: [{ $ref: '#/components/schemas/Tag' }] } },
  idOf: () => undefined,
};

const reference = (id: string) => ({ $ref: `#/components/schemas/${id}` });

/** A document whose one operation sends and receives the named schemas. */
function place(sent: string | undefined, received: string | undefined) {
  const operation = {
    ...(sent && { requestBody: { schema: reference(sent) } }),
    ...(received && { responses: { 200: { schema: reference(received) } } }),
  };
  const { document, lost } = placeSchemas({ paths: { '/': { post: operation } } }, components);
  return {
    operation: (document.paths as Record<string, { post: object }>)['/']?.post,
    schemas: (document.components as { schemas: Record<string, object> }).schemas,
    lost,
  };
}

describe('a schema that differs between what is sent and received', () => {
  it('keeps its name in the form in which it is sent when it is only sent', () => {
    const { operation, schemas } = place('Tag', undefined);
    expect(operation).toEqual({ requestBody: { schema: reference('Tag') } });
    expect(schemas.Tag).toEqual({ type: 'string' });
  });

  it('stands there twice when it is used both ways, also through another schema', () => {
    const { operation, schemas } = place('Box', 'Tag');
    expect(operation).toMatchObject({ requestBody: { schema: reference('Box') } });
    expect(schemas).toMatchObject({
      Tag: { type: 'number' },
      TagInput: { type: 'string' },
      Box: { allOf: [reference('TagInput')] },
    });
  });
});

describe('placing schemas', () => {
  it('keeps one of each that is the same both ways, and none that nobody refers to', () => {
    const { schemas } = place('Same', 'Same');
    expect(Object.keys(schemas)).toEqual(['Same']);
  });

  it('keeps what a schema refers to that an author has written, also one that nobody uses', () => {
    const written = { schemas: { Written: reference('Box') } };
    const { document } = placeSchemas({ paths: {}, components: written }, components);
    expect(Object.keys((document.components as typeof written).schemas)).toEqual(['Box', 'Tag', 'Written']);
  });

  it('names the references that lead nowhere', () => {
    expect(place('Missing', 'Missing').lost).toEqual(['Missing']);
  });
});
