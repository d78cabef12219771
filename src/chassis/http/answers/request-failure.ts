import type { Request } from 'express';

type Undo = () => Promise<void>;

const undos = new WeakMap<Request, Undo[]>();

/** Runs `undo` if the request fails in a later step, before it has reached its answer. */
export function onRequestFailure(req: Request, undo: Undo): void {
  const known = undos.get(req);
  if (known) known.push(undo);
  else undos.set(req, [undo]);
}

/** Undoes what a failed request has done, last first; called once, by the error handler. */
export async function undoRequest(req: Request): Promise<void> {
  const known = undos.get(req);
  if (known === undefined) return;
  undos.delete(req);
  for (const undo of known.reverse()) await undo();
}
