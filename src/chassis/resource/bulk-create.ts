import { z } from 'zod';
import { type ErrorBody, errorBody } from '../errors/error-body.ts';
import { BaseException, RequestAbandonedException } from '../errors/exceptions.ts';
import { parseBody } from '../http/bodies/parse-body.ts';
import type { Selection } from '../query/query-types.ts';

/** What became of one item: the record, or the body of its failure. */
export type BulkResult = { success: true; statusCode: 201; data: object } | ErrorBody;

/** What stores the records: a resource's service. */
interface BulkService {
  create(input: never, select: Selection): Promise<object>;
  together<T>(work: () => Promise<T>): Promise<T>;
}

/** How a request creates several records. */
interface BulkRequest {
  readonly items: readonly unknown[];
  readonly mode: 'each' | 'all';
}

const modes = ['each', 'all'] as const;

/** Reads the body of a bulk request. @param most items at most @throws ValidationException for another one */
export function readBulk(body: unknown, most: number): BulkRequest {
  const items = z.array(z.unknown()).min(1, 'Expected at least 1 item').max(most, `Expected at most ${most} items`);
  return parseBody(z.object({ items, mode: z.enum(modes).default('each') }), body);
}

/**
 * Creates each record that can be created, all in one unit of work, each in a savepoint of its own: what fails by its own
 * fault leaves the others alone.
 *
 * @throws what is no fault of an item, such as a lost database or a request that was abandoned; then nothing is stored
 */
export function createEach(service: BulkService, schema: z.ZodObject, items: readonly unknown[], select: Selection) {
  return service.together(async () => {
    const results: BulkResult[] = [];
    for (const item of items) {
      try {
        const input = parseBody(schema, item) as never;
        const data = await service.together(() => service.create(input, select));
        results.push({ success: true, statusCode: 201, data });
      } catch (error) {
        if (!isOfItem(error)) throw error;
        results.push(errorBody(error, true));
      }
    }
    return results;
  });
}

/**
 * Creates all records or none, without savepoints.
 *
 * @throws what the first item fails with that cannot be created, whose details say which one it is
 */
export function createAll(service: BulkService, schema: z.ZodObject, items: readonly unknown[], select: Selection) {
  return service.together(async () => {
    const created: object[] = [];
    for (const [index, item] of items.entries()) {
      try {
        created.push(await service.create(parseBody(schema, item) as never, select));
      } catch (error) {
        throw ofItem(index, error);
      }
    }
    return created;
  });
}

/** Says in the details of a failure which item it is of. */
function ofItem(item: number, error: unknown): unknown {
  if (!isOfItem(error)) return error;
  const { message, statusCode, details } = error;
  return new BaseException(message, statusCode, { ...(details as object | undefined), item }, { cause: error });
}

/** Whether a failure is that of an item, and not of the service or of the request as a whole. */
function isOfItem(error: unknown): error is BaseException {
  return error instanceof BaseException && !(error instanceof RequestAbandonedException) && error.statusCode < 500;
}
