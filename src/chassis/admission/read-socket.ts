import type { Socket } from 'node:net';

export const readerKey = Symbol('client whose connection is read in turns');
export const proxyKey = Symbol('whether the connection is of a proxy');
export const stoppedKey = Symbol('since when it is not read');
export const waitedKey = Symbol('how long it was not read before it was read again');
export const bytesKey = Symbol('bytes that had come when it was read again');

/** What connections of proxies are known under whose next request may be of anybody. */
export const anybody = 'anybody';

/** The connections of one client. */
export interface Reader {
  readonly key: string;
  open: number;
  /** Those that are read in each turn. */
  readonly reading: Set<ReadSocket>;
  /** Those that are not read, the first to be read again first; some of them may have been closed. */
  readonly stopped: ReadSocket[];
  /** When the turn began that was long already when a request of this client came, by `performance.now()`. */
  lateIn: number;
  /** Connections that brought nothing when they were read again, since the last that did. */
  idle: number;
}

/** What Node keeps of a connection; fair-reading.test.ts holds it to that. */
export type ReadSocket = Socket & {
  [readerKey]?: Reader;
  [proxyKey]?: boolean;
  [stoppedKey]?: number | undefined;
  [waitedKey]?: number;
  [bytesKey]?: number;
  _handle?: { reading: boolean; readStart(): void; readStop(): void } | null;
};

export function newReader(key: string): Reader {
  return { key, open: 0, reading: new Set(), stopped: [], lateIn: Number.NaN, idle: 0 };
}

/** Whose request came last on a connection, also once that is closed; undefined where its next one may be of anybody. */
export function readClientOf(socket: ReadSocket): string | undefined {
  const key = socket[readerKey]?.key;
  return key === anybody ? undefined : key;
}

/** Whether a connection is stopped: something may have come on it that nobody has seen. */
export function waitsToBeRead(socket: ReadSocket): boolean {
  return socket[stoppedKey] !== undefined;
}

/** Node's own pauses are left alone: what it does not read it does not begin to read. */
export function stopReading({ _handle: handle }: ReadSocket): void {
  if (handle?.reading) handle.readStop();
}

export function startReading({ _handle: handle }: ReadSocket): void {
  if (handle?.reading) handle.readStart();
}
