import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { ValidationException } from '../../../../src/chassis/errors/exceptions.ts';
import { parseBody, payForRecords } from '../../../../src/chassis/http/bodies/parse-body.ts';
import { OpenRequest } from '../../../../src/chassis/http/pipeline/request-context-of.ts';

const schema = z.object({ name: z.string().min(2), address: z.object({ zip: z.string() }).optional() });

function errorsOf(parse: () => unknown): Record<string, string[]> {
  try {
    parse();
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationException);
    expect(error).toMatchObject({ statusCode: 400, message: 'Validation Failed' });
    return (error as ValidationException).details.errors;
  }
  throw new Error('Expected a ValidationException, found none.');
}

describe('parseBody', () => {
  it('gives the body as the schema makes it', () => {
    const coerced = z.object({ price: z.string().transform(Number) });
    expect(parseBody(coerced, { price: '12' })).toEqual({ price: 12 });
  });

  it('maps each invalid field by its dotted path to its messages', () => {
    expect(errorsOf(() => parseBody(schema, { name: 'x', address: { zip: 1 } }))).toEqual({
      name: ['Too small: expected string to have >=2 characters'],
      'address.zip': ['Invalid input: expected string, received number'],
    });
  });

  it.each([
    [{ ids: ['a', 'b'], address: { zip: '1' } }, 0],
    [{ lines: [{ parts: [{}, {}] }, { size: { width: 1 } }] }, 20],
  ])('charges the request for the records in lists of %j', (body, cost) => {
    const request = new OpenRequest({
      ...{ requestId: 'r', method: 'POST', url: '/', userAgent: undefined, ipAddress: undefined, deadline: undefined },
    });
    runWithRequestContext(request, () => parseBody(z.looseObject({}), body));
    expect(request.cost).toBe(cost);
  });

  it('charges the request for records that it refuses too, before it looks at them', () => {
    const request = new OpenRequest({
      ...{ requestId: 'r', method: 'POST', url: '/', userAgent: undefined, ipAddress: undefined, deadline: undefined },
    });
    const body = { lines: Array.from({ length: 100 }, () => ({ unknown: 1 })) };
    const parse = () => parseBody(z.object({ lines: z.array(z.object({ id: z.string() })) }), body);
    expect(() => runWithRequestContext(request, parse)).toThrow(ValidationException);
    expect(request.cost).toBe(500);
  });

  it('charges the request once for records that were paid for before', () => {
    const request = new OpenRequest({
      ...{ requestId: 'r', method: 'POST', url: '/', userAgent: undefined, ipAddress: undefined, deadline: undefined },
    });
    const body = { lines: [{}, {}, {}] };
    runWithRequestContext(request, () => {
      payForRecords(body);
      expect(request.cost).toBe(15);
      parseBody(z.looseObject({}), body);
    });
    expect(request.cost).toBe(15);
  });

  it('names every unknown field', () => {
    expect(errorsOf(() => parseBody(schema, { name: 'xx', role: 'admin', a: 1 }))).toEqual({
      role: ['Unknown field'],
      a: ['Unknown field'],
    });
  });

  it.each([
    ['an object', z.object({ in: z.object({ a: z.number() }) }), { in: { a: 1, b: 2 } }, 'in.b'],
    ['a list', z.object({ in: z.array(z.object({ a: z.number() })).min(1) }), { in: [{ a: 1, b: 2 }] }, 'in.0.b'],
    ['an optional object', z.object({ in: z.object({ a: z.number() }).nullish() }), { in: { a: 1, b: 2 } }, 'in.b'],
    ['one with a default', z.object({ in: z.object({}).default({}) }), { in: { b: 2 } }, 'in.b'],
    ['a record', z.object({ in: z.record(z.string(), z.object({})) }), { in: { x: { b: 2 } } }, 'in.x.b'],
    ['a pair', z.object({ in: z.tuple([z.object({})]) }), { in: [{ b: 2 }] }, 'in.0.b'],
    ['what is made of one', z.object({ in: z.object({}).transform(() => 1) }), { in: { b: 2 } }, 'in.b'],
    ['a loose body', z.looseObject({ in: z.object({}) }), { in: { b: 2 }, more: 1 }, 'in.b'],
    ['one that is made later', z.object({ in: z.lazy(() => z.object({})) }), { in: { b: 2 } }, 'in.b'],
  ])('names an unknown field inside of %s', (_what, deep: z.ZodType, body, field) => {
    expect(errorsOf(() => parseBody(deep, body))).toEqual({ [field]: ['Unknown field'] });
  });

  it('takes what fits a schema of itself, of two, or of one of several, and refuses what is unknown to all', () => {
    const tree = z.object({
      name: z.string(),
      get children() {
        return z.array(tree).optional();
      },
    });
    expect(parseBody(tree, { name: 'a', children: [{ name: 'b' }] })).toEqual({ name: 'a', children: [{ name: 'b' }] });
    const child = () => parseBody(tree, { name: 'a', children: [{ name: 'b', role: 'admin' }] });
    expect(errorsOf(child)).toEqual({ 'children.0.role': ['Unknown field'] });
    const both = z.object({ in: z.object({ a: z.number() }).and(z.object({ b: z.number() })) });
    expect(parseBody(both, { in: { a: 1, b: 2 } })).toEqual({ in: { a: 1, b: 2 } });
    const kinds = [z.object({ type: z.literal('a'), a: z.number() }), z.object({ type: z.literal('b') })] as const;
    const one = z.object({ in: z.discriminatedUnion('type', kinds) });
    expect(parseBody(one, { in: { type: 'a', a: 1 } })).toEqual({ in: { type: 'a', a: 1 } });
    expect(errorsOf(() => parseBody(one, { in: { type: 'b', a: 1 } }))).toEqual({ 'in.a': ['Unknown field'] });
    expect(() => parseBody(z.object({ in: z.union(kinds) }), { in: { type: 'b', a: 1 } })).toThrow(ValidationException);
  });

  it('keeps the refinements of a schema when it makes it strict', () => {
    const refined = z.object({ a: z.number(), b: z.number() }).refine(({ a, b }) => a < b, 'a must be below b');
    expect(errorsOf(() => parseBody(refined, { a: 2, b: 1 }))).toEqual({ body: ['a must be below b'] });
  });

  it('takes unknown fields where the schema says so', () => {
    expect(parseBody(z.looseObject({}), { a: 1 })).toEqual({ a: 1 });
  });

  it.each([
    [undefined, 'no body'],
    [null, 'null'],
    [[], 'an array'],
    ['x', 'a string'],
    [1, 'a number'],
  ])('says of the body %j that an object was expected', (body, found) => {
    expect(errorsOf(() => parseBody(schema, body))).toEqual({ body: [`Expected a JSON object, found ${found}`] });
  });

  it('reports at most 50 fields with short names', () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`${'x'.repeat(500)}${index}`, 1]));
    const short = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 1]));
    expect(Object.keys(errorsOf(() => parseBody(z.object({}), short)))).toHaveLength(50);
    expect(JSON.stringify(errorsOf(() => parseBody(z.object({}), body))).length).toBeLessThan(20_000);
  });
});
