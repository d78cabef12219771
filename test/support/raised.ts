import type { BaseException } from '../../src/chassis/errors/exceptions.ts';

/** The exception that `work` raises; an Error when it raises none. */
export async function raised(work: () => Promise<unknown>): Promise<BaseException> {
  try {
    await work();
  } catch (error) {
    return error as BaseException;
  }
  throw new Error('Expected an error, got none.');
}
