import { DriverAdapterError, type SqlQuery } from '@prisma/driver-adapter-utils';
import type { DataModel } from '../models/data-model.ts';
import { toAdapterError } from './sqlite-error.ts';

/** What the thread of a database is asked to do. */
export type SqliteRequest =
  | { readonly kind: 'query' | 'execute'; readonly statement: SqlQuery }
  | { readonly kind: 'script'; readonly script: string }
  | { readonly kind: 'open' | 'begin' | 'commit' | 'rollback' | 'close' };

/** A request under the number of its answer. Numbers grow, and the thread takes one request after the other. */
export interface SqliteMessage {
  readonly id: number;
  readonly request: SqliteRequest;
}

/** What a thread is started with. */
export interface SqliteThreadData {
  readonly path: string;
  /** The models of the file. */
  readonly dataModel: DataModel;
  /** Where it writes which statement runs: see `statementSlots`. */
  readonly running: Int32Array;
  /** Characters of one result, and of all that are on their way, at most. */
  readonly mostChars: number;
  /** Whether it reads beside another thread, which writes. */
  readonly onlyReads: boolean;
}

/**
 * Places in `SqliteThreadData.running`: the number of the request, 0 for none; since when, in milliseconds; whether the
 * thread is to do nothing more, written by the other side; the last decision of `decide`; and the characters of long results
 * that the other side has not received yet.
 */
export const statementSlots = { id: 0, since: 1, abandoned: 2, decision: 3, underWay: 4 } as const;

/** Results of fewer characters are not counted while they are on their way. */
export const longResult = 1_048_576;

/** The name of the error of a result that is longer than any may be. */
export const resultTooLong = 'ResultTooLong';

/** Notes that a long result was received, for which others may wait. */
export function noteReceived(running: Int32Array, chars: number): void {
  Atomics.sub(running, statementSlots.underWay, chars);
  Atomics.notify(running, statementSlots.underWay);
}

/** Makes what a thread and the one that asks it share. */
export function sharedSlots(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(20));
}

/**
 * Decides, once for each request, whether its work is stored or given up; whichever thread asks first has it its way, so
 * what is given up is never stored. Tells whether this was decided.
 */
export function decide(running: Int32Array, id: number, decision: 'store' | 'give up'): boolean {
  const mine = decision === 'store' ? -id : id;
  for (;;) {
    const last = Atomics.load(running, statementSlots.decision);
    if (last === -mine) return false;
    if (Atomics.compareExchange(running, statementSlots.decision, last, mine) === last) return true;
  }
}

/** The answer to a request. */
export type SqliteAnswer =
  | { readonly id: number; readonly value: unknown }
  /** A long result. */
  | { readonly id: number; readonly value: unknown; readonly chars: number }
  | { readonly id: number; readonly failure: SqliteFailure };

/** An error on its way between threads, which would lose its class. */
interface SqliteFailure {
  name: string;
  message: string;
  code?: unknown;
  /** Only of a DriverAdapterError, from which the ORM tells what went wrong. */
  adapterCause?: DriverAdapterError['cause'];
}

/** Milliseconds by the clock that both threads have, in 32 bits; only differences mean something. */
export function clockTick(): number {
  return Date.now() | 0;
}

/** Takes an error apart for another thread. */
export function packFailure(given: unknown): SqliteFailure {
  const error = toAdapterError(given);
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message } = error;
  if (error instanceof DriverAdapterError) return { name, message, adapterCause: error.cause };
  return { name, message, code: (error as { code?: unknown }).code };
}

/** The error that `packFailure` took apart. */
export function unpackFailure({ name, message, code, adapterCause }: SqliteFailure): Error {
  if (adapterCause !== undefined) return new DriverAdapterError(adapterCause);
  const error = Object.assign(new Error(message), code !== undefined && { code });
  return Object.defineProperty(error, 'name', { value: name, configurable: true });
}
