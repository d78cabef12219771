import { findService } from '../../context/current-service.ts';
import { scopes, uninterrupted } from '../../context/request-context.ts';
import { innermostUnit } from '../client/current-work.ts';

/**
 * Runs `work` once the outermost unit of work is committed, after the work that was added before it; never when the unit,
 * or the nested one in which this was called, is undone. Outside of a unit it runs at once. It runs as who acts now, in
 * `runAs` and `unscoped` too, and to its end also when the client has gone. Its failure is logged and changes nothing for the
 * caller: the data is stored.
 *
 * @throws InternalServerErrorException when the unit of work is over
 */
export function afterCommit(work: () => unknown): void {
  const unit = innermostUnit();
  const scope = scopes.getStore();
  const asNow = scope ? () => scopes.run(scope, work) : work;
  if (unit) unit.addAfterCommit(asNow);
  else void runAfterCommit([asNow]);
}

/** Runs what was added, in its order; resolves when all is done and never rejects. */
export async function runAfterCommit(all: readonly (() => unknown)[]): Promise<void> {
  for (const work of all) {
    try {
      await uninterrupted(work);
    } catch (error) {
      const message = 'work after a commit failed';
      const logger = findService()?.logger;
      if (logger) logger.error({ err: error }, message);
      else process.emitWarning(`${message}: ${String(error)}`);
    }
  }
}
