import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BadRequestException, NotFoundException, ValidationException } from '../../../src/chassis/errors/exceptions.ts';
import { LightError } from '../../../src/chassis/errors/light-error.ts';
import { parseBody } from '../../../src/chassis/http/bodies/parse-body.ts';
import { inParameter, parseJson } from '../../../src/chassis/query/parse/parameter.ts';
import { raised } from '../../support/raised.ts';

const frame = /\n\s+at /;
const bounds = { json: 100, nesting: 5, keys: 5, in: 5, string: 50 };

describe('LightError', () => {
  it('knows where it was made unless it is told not to, and so do all errors that are made after it', () => {
    const errors = [new LightError('a'), new LightError('b', { stack: false }), new LightError('c')];
    expect(errors.map(({ stack }) => frame.test(stack ?? ''))).toEqual([true, false, true]);
    expect(new Error('d').stack).toMatch(frame);
  });

  it('keeps its cause, without which it has none', () => {
    const cause = new Error('why');
    expect(new LightError('a', { stack: false, cause }).cause).toBe(cause);
    expect('cause' in new LightError('a')).toBe(false);
  });
});

describe('an exception', () => {
  it('has a stack by default, with a status of a client too', () => {
    expect(new NotFoundException('No such product').stack).toMatch(/light-error\.test\.ts/);
  });

  it.each([
    [ValidationException, () => parseBody(z.object({ name: z.string() }), { name: 1 })],
    [BadRequestException, () => inParameter('where', () => parseJson('{', bounds))],
  ])('that refuses what a client sent is a %o without a stack and those of its causes', async (type, refuse) => {
    const refusal = await raised(async () => refuse());
    expect(refusal).toBeInstanceOf(type);
    expect(refusal.stack).not.toMatch(frame);
  });
});
