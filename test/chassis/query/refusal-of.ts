import { expect } from 'vitest';
import { BadRequestException } from '../../../src/chassis/errors/exceptions.ts';

/** The BadRequestException that a call raises; a test that expects one fails on anything else. */
export function refusalOf(call: () => unknown): BadRequestException {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    expect(error).toBeInstanceOf(BadRequestException);
    expect(error).toHaveProperty('message', 'Invalid request data');
    return error as BadRequestException;
  }
  throw new Error(`expected a BadRequestException, got ${JSON.stringify(result)}`);
}

/** What the exception that a call raises says is wrong, as `where: what; where: what`. */
export function reasonOf(call: () => unknown): string {
  const { issues } = refusalOf(call).details as { issues: { path: string; message: string }[] };
  return issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
}
