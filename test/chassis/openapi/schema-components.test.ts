import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { schemaComponents } from '../../../src/chassis/openapi/schema-components.ts';

const made: z.ZodType[] = [];

/** Registers a schema for one test. */
function registered<T extends z.ZodType>(id: string, schema: T): T {
  const withId = schema.meta({ ...schema.meta(), id });
  made.push(withId);
  return withId;
}

afterEach(() => {
  for (const schema of made.splice(0)) z.globalRegistry.remove(schema);
});

describe('component schemas', () => {
  it('are made of every zod schema that has an id', () => {
    registered('Lamp', z.object({ watts: z.int32().positive().describe('drawn') }));
    expect(schemaComponents([]).output.Lamp).toEqual({
      type: 'object',
      properties: {
        watts: { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 2147483647, description: 'drawn' },
      },
      required: ['watts'],
    });
  });

  it('write a date as JSON carries it', () => {
    registered('Dated', z.object({ at: z.date(), maybe: z.date().nullable() }));
    expect(schemaComponents([]).output.Dated?.properties).toEqual({
      at: { type: 'string', format: 'date-time' },
      maybe: { type: 'string', format: 'date-time', nullable: true },
    });
  });

  it('are closed as input and open as output, unless the schema itself is loose', () => {
    registered('Plain', z.object({ a: z.string() }));
    registered('Loose', z.looseObject({ a: z.string() }));
    const { input, output } = schemaComponents([]);
    expect(input.Plain?.additionalProperties).toBe(false);
    expect(output.Plain?.additionalProperties).toBeUndefined();
    expect(input.Loose?.additionalProperties).not.toBe(false);
  });

  it('refer to each other by their ids', () => {
    const part = registered('Part', z.object({ name: z.string() }));
    registered('Whole', z.object({ parts: z.array(part), main: part.nullable() }));
    expect(schemaComponents([]).output.Whole?.properties).toEqual({
      parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
      main: { nullable: true, allOf: [{ $ref: '#/components/schemas/Part' }] },
    });
  });

  it('hold only what OpenAPI 3.0 knows', () => {
    registered(
      'Odd',
      z.object({
        bytes: z.base64(),
        colour: z.enum(['red', 'blue']).nullable(),
        nothing: z.literal(null),
        named: z.string().meta({ examples: ['Ada'], secret: true }),
        counts: z.record(z.string(), z.int32()),
      }),
    );
    const properties = schemaComponents([]).output.Odd?.properties as Record<string, object>;
    expect(properties.bytes).not.toHaveProperty('contentEncoding');
    expect(properties.colour).toEqual({ type: 'string', enum: ['red', 'blue', null], nullable: true });
    expect(properties.nothing).toEqual({ type: 'string', enum: [null], nullable: true });
    expect(properties.named).toEqual({ type: 'string', example: 'Ada' });
    expect(properties.counts).not.toHaveProperty('propertyNames');
  });

  it('take the name that is given where a schema has no id', () => {
    const schema = z.object({ a: z.string() });
    const components = schemaComponents([{ id: 'Given', schema, usedBy: 'shop/item.routes.ts' }]);
    expect(components.output).toHaveProperty('Given');
    expect(components.idOf(schema)).toBe('Given');
  });

  it('refuse two schemas with one id and say where the second is used', () => {
    registered('Twice', z.object({ a: z.string() }));
    const schema = z.object({ b: z.string() });
    expect(() => schemaComponents([{ id: 'Twice', schema, usedBy: 'shop/item.routes.ts' }])).toThrow(
      "Expected one zod schema with .meta({ id: 'Twice' }), found a second one used by shop/item.routes.ts; " +
        "search the modules for id: 'Twice' and rename one of the two.",
    );
  });

  it('of several services may share an id: what a service declares counts, and what it knew when it started', () => {
    const part = registered('Inner', z.object({ a: z.string() }));
    const whole = registered('Twice', z.object({ part }));
    const known = new Map(z.globalRegistry._idmap);
    registered('Twice', z.object({ b: z.string() }));
    const other = registered('Inner', z.object({ c: registered('Deep', z.string()) }));
    registered('Deep', z.int());
    const named = [{ id: 'Twice', schema: whole, usedBy: 'shop/item.routes.ts' }];
    const { output } = schemaComponents(named, { known, ofSeveralServices: true });
    expect(output.Twice?.properties).toEqual({ part: { $ref: '#/components/schemas/Inner' } });
    expect(output.Inner?.properties).toEqual({ a: { type: 'string' } });
    const ofOther = { id: 'Inner', schema: other, usedBy: 'shop/item.routes.ts' };
    const { output: later } = schemaComponents([ofOther], { ofSeveralServices: true });
    expect(later.Inner?.properties).toEqual({ c: { type: 'string' } });
    const twice = () => schemaComponents([...named, { ...ofOther, id: 'Twice' }, { ...named[0]!, schema: z.object() }]);
    expect(twice).toThrow('Expected one zod schema');
  });

  it('refuse two schemas with one id also where one is a part of another schema', () => {
    const first = registered('Inner', z.object({ a: z.string() }));
    registered('Outer', z.object({ first }));
    registered('Inner', z.object({ b: z.string() }));
    expect(() => schemaComponents([])).toThrow("Expected one zod schema with .meta({ id: 'Inner' })");
  });
});
