import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ConflictException, RequestAbandonedException } from '../../../src/chassis/errors/exceptions.ts';
import { createEach } from '../../../src/chassis/resource/bulk-create.ts';

const schema = z.object({ name: z.string() });

/** A service that fails with `failure` from its third record on, and tells which of its units of work were stored. */
function failingService(failure: Error) {
  const stored: boolean[] = [];
  let records = 0;
  return {
    stored,
    async create(input: object) {
      records += 1;
      if (records > 2) throw failure;
      return input;
    },
    async together<T>(work: () => Promise<T>): Promise<T> {
      const result = await work();
      stored.push(true);
      return result;
    },
  };
}

describe('createEach', () => {
  const items = ['a', 'b', 'c', 'd'].map((name) => ({ name }));

  it('stores nothing where the request is abandoned, which is no fault of the items that are left', async () => {
    const service = failingService(new RequestAbandonedException());
    await expect(createEach(service, schema, items, {})).rejects.toThrow(RequestAbandonedException);
    expect(service.stored).toHaveLength(2);
  });

  it('stores the others where an item fails by its own fault', async () => {
    const service = failingService(new ConflictException('There is one'));
    const results = await createEach(service, schema, items, {});
    expect(results.map(({ success }) => success)).toEqual([true, true, false, false]);
    expect(service.stored).toHaveLength(3);
  });
});
