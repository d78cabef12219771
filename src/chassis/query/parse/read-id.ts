import { notFoundMessage } from '../../errors/error-body.ts';
import { BadRequestException, NotFoundException } from '../../errors/exceptions.ts';
import type { FieldKind } from '../policy/field-types.ts';
import type { PolicyRules } from '../policy/policy-rules.ts';
import { Refusal } from './parameter.ts';
import { coerceValue } from './parse-search.ts';

/**
 * The identifier that a path names, in the type that the model's `id` has: text, a UUID, an integer or a BigInt.
 *
 * @throws NotFoundException for a text that no identifier of the model can be, like for one that no record has
 * @throws BadRequestException for a text that no database takes
 */
export function readId({ model, idSort }: PolicyRules, text: string): unknown {
  if (text.includes('\0')) throw new BadRequestException('Invalid request data', undefined, { stack: false });
  const { field } = idSort;
  try {
    return coerceValue(field, readers[field.kind]?.(text) ?? text, ['id']);
  } catch (error) {
    if (error instanceof Refusal)
      throw new NotFoundException(notFoundMessage(model), undefined, { cause: error, stack: false });
    throw error;
  }
}

/** One way to write each number, so that a record has one address. */
const canonicalNumber = /^(0|-?[1-9]\d{0,18})$/;

/** What is no canonical number becomes a value that no identifier has. */
const readers: Partial<Record<FieldKind, (text: string) => unknown>> = {
  integer: (text) => (canonicalNumber.test(text) ? Number(text) : Number.NaN),
  bigint: (text) => (canonicalNumber.test(text) ? BigInt(text) : Number.NaN),
};
