import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ValidationException } from '../../../../src/chassis/errors/exceptions.ts';
import { parseBody } from '../../../../src/chassis/http/bodies/parse-body.ts';

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

  it('names every unknown field', () => {
    expect(errorsOf(() => parseBody(schema, { name: 'xx', role: 'admin', a: 1 }))).toEqual({
      role: ['Unknown field'],
      a: ['Unknown field'],
    });
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
