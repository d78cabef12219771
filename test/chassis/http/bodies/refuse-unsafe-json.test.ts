import { expect, it } from 'vitest';
import { refuseUnsafeJson } from '../../../../src/chassis/http/bodies/refuse-unsafe-json.ts';
import { raised } from '../../../support/raised.ts';

it('names no more than the beginning of a name that is as long as a body', async () => {
  const { details } = await raised(async () => refuseUnsafeJson({ ['n'.repeat(1_000_000)]: '\0' }));
  expect(details).toEqual({
    errors: { ['n'.repeat(200)]: ['Holds a NUL character or half of a character'] },
  });
});
