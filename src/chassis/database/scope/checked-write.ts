import { AsyncLocalStorage } from 'node:async_hooks';
import { modelWords } from '../../errors/error-body.ts';
import { ForbiddenException, InternalServerErrorException } from '../../errors/exceptions.ts';
import type { Filter } from '../../query/query-types.ts';
import { currentUnit } from '../client/current-work.ts';
import type { OrmClient } from '../client/orm-types.ts';
import { delegateOf } from '../models/delegate-of.ts';
import { unitOfWorkOn } from '../work/unit-of-work.ts';

type Row = Record<string, unknown>;
type Arguments = Record<string, unknown>;

/** The operations that create or change rows, and what does the same and tells which rows these were. */
const writes: Record<string, string> = {
  create: 'create',
  createMany: 'createManyAndReturn',
  createManyAndReturn: 'createManyAndReturn',
  update: 'update',
  updateMany: 'updateManyAndReturn',
  updateManyAndReturn: 'updateManyAndReturn',
  upsert: 'upsert',
};

/** How many rows are looked up by one query; a statement takes so many values and more. */
const batch = 10_000;

const checking = new AsyncLocalStorage<'the write' | 'its rows'>();

/** Whether an operation may leave rows that are out of a scope, and no check of it is under way. */
export function isUnchecked(operation: string): boolean {
  return Object.hasOwn(writes, operation) && checking.getStore() === undefined;
}

/** Whether the rows of a write are looked up, of which the scope is part of the question. */
export function isLookingUp(): boolean {
  return checking.getStore() === 'its rows';
}

/** A write whose rows may be out of the caller's scope after it. */
interface UncheckedWrite {
  /** The service's client. */
  readonly client: object;
  readonly model: string;
  readonly operation: string;
  readonly args: unknown;
  /** The rows that the caller may see; deleted ones too, because a write may delete. */
  readonly scope: Filter;
}

/**
 * Runs a write in a unit of work, which is undone where one of its rows is out of the caller's scope after it.
 *
 * @throws ForbiddenException where one is, InternalServerErrorException where `id` is omitted, and what the write raises
 */
export function checkedWrite({ client, model, operation, args, scope }: UncheckedWrite): Promise<unknown> {
  const { select, ...rest } = (args ?? {}) as Arguments & { select?: Row };
  const isCounted = operation === 'createMany' || operation === 'updateMany';
  const selected = isCounted ? { id: true } : select && { ...select, id: true };
  const asked = { ...rest, ...(selected && { select: selected }) };
  return unitOfWorkOn(client as OrmClient, async () => {
    const rows = delegateOf(currentUnit(client)?.transaction ?? client, model);
    const write = (rows as unknown as Record<string, (asked: object) => Promise<Row | Row[]>>)[writes[operation] ?? ''];
    const result = await checking.run('the write', async () => write?.(asked));
    const written = [result ?? []].flat();
    const ids = [...new Set(written.map(({ id }) => id))];
    if (ids.includes(undefined)) throw unknownRows(model, operation);
    for (let from = 0; from < ids.length; from += batch) {
      const some = ids.slice(from, from + batch);
      const where = { AND: [{ id: { in: some } }, scope] };
      const count = await checking.run('its rows', async () => rows.count({ where }));
      if (count < some.length) throw new ForbiddenException(`This ${modelWords(model)} would not be yours`);
    }
    if (isCounted) return { count: written.length };
    const hidesId = select !== undefined && select.id !== true;
    const shown = hidesId ? written.map(({ id: _id, ...row }) => row) : written;
    return Array.isArray(result) ? shown : shown[0];
  });
}

function unknownRows(model: string, operation: string): InternalServerErrorException {
  return new InternalServerErrorException(
    `Expected the id of each row that ${operation} of ${model} writes, whose scope is checked by it, found none; do not omit it.`,
  );
}
