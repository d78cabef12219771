import type { ServerResponse } from 'node:http';

/** Hears that a response is over: its last byte was handed over, or its connection has ended. */
export type CloseListener = (res: ServerResponse) => void;

const listenersKey = Symbol('close listeners');

type HeardResponse = ServerResponse & { [listenersKey]?: CloseListener[] };

/** Node's 10 for the author of a handler, and those of the chassis: this one, and that of `compression`. */
const mostListeners = 12;

/**
 * Calls `listener` once when a response is over, in the order of the calls. A response has one listener of `close` for all
 * of the chassis: `pipeline` adds seven, and Node warns of the eleventh.
 */
export function onClose(res: HeardResponse, listener: CloseListener): void {
  const known = res[listenersKey];
  if (known !== undefined) {
    known.push(listener);
    return;
  }
  res[listenersKey] = [listener];
  res.setMaxListeners(mostListeners);
  res.on('close', callListeners);
}

/** One function for all responses: Node calls it with the response as `this`. */
function callListeners(this: HeardResponse): void {
  for (const listener of this[listenersKey] ?? []) listener(this);
}
