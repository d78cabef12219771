import { countQuery } from '../../telemetry/metrics/metrics.ts';
import { toDatabaseException } from './database-errors.ts';
import type { OrmClient } from './orm-types.ts';
import { stopAbandoned } from './stop-abandoned.ts';

interface Operation {
  model?: string;
  operation: string;
  args: unknown;
  query(args: unknown): Promise<unknown>;
}

interface Extensible {
  $extends(extension: object): object;
}

/**
 * The same client, whose every operation raises the exceptions of the chassis instead of the database's own errors
 * (spec.md: Errors, body rule 7): in repositories, in methods that a module adds, in raw SQL and in transactions. The time
 * of every operation is measured. A request that nobody waits for stops before its next operation.
 */
export function convertingErrors(client: object): OrmClient {
  const extended = (client as Extensible).$extends({ query: { $allOperations: convertErrors } });
  return Object.assign(extended, { $transaction: convertTransactionErrors(extended) }) as OrmClient;
}

async function convertErrors({ model, operation, args, query }: Operation): Promise<unknown> {
  stopAbandoned();
  const started = performance.now();
  try {
    return await query(args);
  } catch (error) {
    throw toDatabaseException(error, { model, operation }) ?? error;
  } finally {
    countQuery(model, operation, started);
  }
}

/** Errors of the transaction itself, such as its time limit, come from no operation. */
function convertTransactionErrors(client: object): (...args: unknown[]) => Promise<unknown> {
  const { $transaction } = client as { $transaction(...args: unknown[]): Promise<unknown> };
  return async (...args) => {
    try {
      return await $transaction.apply(client, args);
    } catch (error) {
      throw toDatabaseException(error) ?? error;
    }
  };
}
