import { notFoundMessage } from '../../errors/error-body.ts';
import { BadRequestException, NotFoundException } from '../../errors/exceptions.ts';
import type { PolicyRules } from '../policy/policy-rules.ts';
import { coerceValue } from './coerce-value.ts';
import { Refusal } from './query-refusal.ts';

/**
 * The identifier that a path names, in the type that the model's `id` has: text, a UUID, an integer or a BigInt.
 *
 * @throws NotFoundException for a text that no identifier of the model can be, like for one that no record has
 * @throws BadRequestException for a text that no database takes
 */
export function readId({ model, idSort }: PolicyRules, text: string): unknown {
  if (text.includes('\0')) throw new BadRequestException('Invalid request data');
  const { field } = idSort;
  try {
    return coerceValue(field, field.kind === 'integer' ? integer(text) : text, ['id']);
  } catch (error) {
    if (error instanceof Refusal) throw new NotFoundException(notFoundMessage(model), undefined, { cause: error });
    throw error;
  }
}

/** One way to write each number, so that a record has one address. */
function integer(text: string): number {
  return /^(0|-?[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN;
}
