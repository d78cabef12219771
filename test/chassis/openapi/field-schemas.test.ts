import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findParameters } from '../../../src/chassis/openapi/list-parameters.ts';
import { QueryComponents } from '../../../src/chassis/openapi/query-components.ts';
import { schemaComponents } from '../../../src/chassis/openapi/schema-components.ts';
import { dateTime, decimal, int64 } from '../../../src/chassis/query/policy/field-types.ts';
import { type AnyListPolicy, ListPolicy } from '../../../src/chassis/query/policy/list-policy.ts';

const thing = z
  .object({
    id: int64(),
    price: decimal(),
    soldAt: dateTime().nullable(),
    madeAt: z.date(),
    mood: z.enum(['calm', 'wild']).nullable(),
    data: z.json(),
    extra: z.array(z.int32()).nullable(),
  })
  .meta({ id: 'ThingOfFields' });
const createThing = thing.omit({ madeAt: true }).meta({ id: 'CreateThingOfFields' });
afterAll(() => {
  for (const schema of [thing, createThing]) z.globalRegistry.remove(schema);
});

const { input, output } = schemaComponents([]);
const answered = output.ThingOfFields?.properties as Record<string, object>;
const sent = input.CreateThingOfFields?.properties as Record<string, object>;

describe('a field of a record in the API page', () => {
  it('of 64 bits is a string in an answer, and a string or an integer in a body', () => {
    expect(answered.id).toEqual({ type: 'string', format: 'int64', pattern: '^-?\\d{1,19}$' });
    expect(sent.id).toMatchObject({ format: 'int64', anyOf: [{ type: 'string' }, { type: 'integer' }] });
  });

  it('that is a decimal is a string in both, whose pattern accepts what the service accepts', () => {
    for (const schema of [answered.price, sent.price])
      expect(schema).toMatchObject({ type: 'string', format: 'decimal' });
    const { pattern } = sent.price as { pattern: string };
    for (const [text, fits] of [
      ['19.90', true],
      ['-1', true],
      ['1e3', false],
      ['', false],
    ] as const) {
      expect(new RegExp(pattern).test(text), text).toBe(fits);
      expect(decimal().safeParse(text).success, text).toBe(fits);
    }
  });

  it('that is a moment is a date-time in both, nullable where the record says so', () => {
    expect(answered.madeAt).toEqual({ type: 'string', format: 'date-time' });
    expect(answered.soldAt).toEqual({ type: 'string', format: 'date-time', nullable: true });
    expect(sent.soldAt).toMatchObject({ type: 'string', format: 'date-time', nullable: true });
  });

  it('of an enum names its values, and null among them where it may be missing', () => {
    expect(answered.mood).toEqual({ type: 'string', nullable: true, enum: ['calm', 'wild', null] });
  });

  it('of any JSON leads to a component that is there', () => {
    const [, name] = /#\/components\/schemas\/(\w+)/.exec(JSON.stringify(answered.data)) ?? [];
    expect(name).toMatch(/^Shared\d+$/);
    for (const components of [input, output]) {
      const references = [...JSON.stringify(components).matchAll(/"\$ref":"#\/components\/schemas\/([^"]*)"/g)];
      expect(
        references.map(([, reference = '']) => reference).filter((reference) => !(reference in components)),
      ).toEqual([]);
    }
    expect(answered.extra).toMatchObject({ type: 'array', nullable: true, items: { type: 'integer' } });
  });
});

/** What the API page says of one field in a filter. */
function filterOf(field: string, ...operators: string[]) {
  const policy: AnyListPolicy = new ListPolicy('Thing', { record: thing, filter: { [field]: operators } });
  const components = new QueryComponents();
  const where = findParameters(policy.rules, components).find(({ name }) => name === 'where');
  const properties = components.schemas.ThingFilter?.properties as Record<string, { anyOf: object[] }>;
  const content = where?.content as Record<string, { example: object }> | undefined;
  const example = content?.['application/json']?.example;
  return { policy, schemas: properties[field]?.anyOf, example };
}

describe('a field of a filter in the API page', () => {
  it.each([
    ['id', { type: 'string', pattern: '^-?\\d{1,19}$' }, { in: ['0'] }],
    ['price', { type: 'string', pattern: '^-?\\d{1,64}(\\.\\d{1,64})?$' }, { in: ['0'] }],
    ['soldAt', { type: 'string', format: 'date-time', nullable: true }, { in: ['2020-01-01T00:00:00Z'] }],
    ['mood', { type: 'string', enum: ['calm', 'wild', null], nullable: true }, { in: ['calm'] }],
  ])('%s has the type that a filter takes, and an example that its policy accepts', (field, schema, example) => {
    const filter = filterOf(field, 'equals', 'in');
    expect(filter.schemas?.[0]).toEqual(schema);
    expect(filter.example).toEqual({ [field]: example });
    expect(() => filter.policy.parseFind({ where: JSON.stringify(filter.example) })).not.toThrow();
  });

  it.each(['data', 'extra'])('%s, of Json, takes any value and a path into it', (field) => {
    const filter = filterOf(field, 'equals');
    expect(filter.schemas?.[1]).toMatchObject({ properties: { equals: {}, path: { type: 'array' } } });
    expect(() => filter.policy.parseFind({ where: JSON.stringify(filter.example) })).not.toThrow();
  });
});
