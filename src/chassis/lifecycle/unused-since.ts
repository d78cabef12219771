import type { Socket } from 'node:net';

const unusedKey = Symbol('since when nothing has come');

/** What had come on a connection when a look first found no more, by `performance.now()`. */
interface Unused {
  readonly bytes: number;
  readonly since: number;
}

/** Since when nothing has come on a connection, as far as looks tell: `now` at the first look, and after each byte. */
export function unusedSince(socket: Socket & { [unusedKey]?: Unused }, now: number): number {
  const { bytesRead: bytes } = socket;
  const before = socket[unusedKey];
  if (before?.bytes === bytes) return before.since;
  socket[unusedKey] = { bytes, since: now };
  return now;
}
