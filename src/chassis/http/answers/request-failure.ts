import type { Request } from 'express';
import { type BaseException, DatabaseUnavailableException } from '../../errors/exceptions.ts';

/** Gets what the request is answered with. */
type Undo = (failure: BaseException) => Promise<void>;

const undos = new WeakMap<Request, Undo[]>();

/** Runs `undo` if the request fails in a later step, before it has reached its answer. */
export function onRequestFailure(req: Request, undo: Undo): void {
  const known = undos.get(req);
  if (known) known.push(undo);
  else undos.set(req, [undo]);
}

/** Leaves a file where a row that refers to it may be stored, although the request failed: one too many does less harm than one too few. */
export function unlessStored(remove: () => Promise<void>): Undo {
  return async (failure) => {
    if (!(failure instanceof DatabaseUnavailableException && failure.mayBeStored)) await remove();
  };
}

/** Undoes what a failed request has done, last first; called once, by the error handler. */
export async function undoRequest(req: Request, failure: BaseException): Promise<void> {
  const known = undos.get(req);
  if (known === undefined) return;
  undos.delete(req);
  for (const undo of known.reverse()) await undo(failure);
}
