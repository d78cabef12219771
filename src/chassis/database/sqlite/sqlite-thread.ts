import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import { chassisFile } from '../../config/layout.ts';
import { type ReadLimits, tooLong } from '../client/read-room.ts';
import type { DataModel } from '../models/data-model.ts';
import {
  clockTick,
  decide,
  noteReceived,
  resultTooLong,
  type SqliteAnswer,
  type SqliteRequest,
  type SqliteThreadData,
  sharedSlots,
  statementSlots,
  unpackFailure,
} from './sqlite-messages.ts';

interface Pending {
  readonly request: SqliteRequest;
  /** The thread that alone may take it, because its transaction is open there; undefined for any. */
  readonly boundTo: number | undefined;
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** A file, and what a thread does with it. */
interface SqliteThreadOptions {
  readonly path: string;
  /** The models of the file. */
  readonly dataModel: DataModel;
  /** How long one statement may run. */
  readonly statementTimeoutMs: number;
  /** How much a result may bring. Default: as much as it does. */
  readonly reads?: ReadLimits | undefined;
  /** Whether it reads beside another thread, which writes. Default false. */
  readonly onlyReads?: boolean;
}

const program = chassisFile('database/sqlite/sqlite-worker');
/** Threads that are left behind with a statement that nothing can stop, at most. */
const mostAbandoned = 1;
const longestCheckMs = 250;

/**
 * A thread that runs the statements of one SQLite file, because each stops the thread that it runs on. A statement that
 * takes longer than the time limit fails. The driver gives no means to stop it (to terminate its thread would end the whole
 * process), so its thread is left to end by itself, and another one takes what had not begun. While one is left already,
 * requests wait for the second.
 */
export class SqliteThread {
  readonly #options: SqliteThreadOptions;
  readonly #statementTimeoutMs: number;
  readonly #mostChars: number;
  readonly #pending = new Map<number, Pending>();
  #running = sharedSlots();
  #worker: Worker | undefined;
  #generation = 0;
  readonly #abandoned = new Set<Worker>();
  #lastId = 0;
  #check: NodeJS.Timeout | undefined;

  constructor(options: SqliteThreadOptions) {
    this.#options = options;
    this.#statementTimeoutMs = options.statementTimeoutMs;
    this.#mostChars = options.reads?.mostBytes ?? Number.POSITIVE_INFINITY;
  }

  /** Changes when the thread is replaced by another, which knows nothing of transactions open on the one before. */
  get generation(): number {
    return this.#generation;
  }

  /** What it was asked to do, and has not done yet. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Which statement runs there: none, one within the time limit, or one beyond it that the thread cannot be freed of. */
  get statement(): 'none' | 'in time' | 'late' {
    if (Atomics.load(this.#running, statementSlots.id) === 0) return 'none';
    return this.#runningMs() > this.#statementTimeoutMs ? 'late' : 'in time';
  }

  /**
   * Has the thread do something, after everything asked for before.
   *
   * @param boundTo the generation that it is meant for; on another one it fails
   */
  run<T>(request: SqliteRequest, boundTo?: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#lastId += 1;
      this.#post(this.#lastId, { request, boundTo, resolve, reject });
    });
  }

  /** Closes the file and ends the thread, after those that are left behind with a statement; nothing if it never started. */
  async close(): Promise<void> {
    if (this.#generation === 0) return;
    for (const worker of this.#abandoned) {
      worker.ref();
      await once(worker, 'exit');
    }
    try {
      await this.run({ kind: 'close' });
    } finally {
      const worker = this.#worker;
      this.#worker = undefined;
      clearTimeout(this.#check);
      await worker?.terminate();
    }
  }

  #post(id: number, pending: Pending): void {
    const worker = this.#worker ?? this.#start();
    if (pending.boundTo !== undefined && pending.boundTo !== this.#generation) {
      pending.reject(transactionLost());
      return;
    }
    this.#pending.set(id, pending);
    // A query under way keeps the process alive, an open file does not.
    if (this.#pending.size === 1) worker.ref();
    worker.postMessage({ id, request: pending.request });
    this.#check ??= setTimeout(() => this.#checkStatement(), this.#checkMs()).unref();
  }

  #start(): Worker {
    const running = sharedSlots();
    this.#running = running;
    const { path, dataModel, onlyReads = false } = this.#options;
    const workerData: SqliteThreadData = { path, dataModel, running, mostChars: this.#mostChars, onlyReads };
    const worker = new Worker(program, { name: onlyReads ? 'sqlite reader' : 'sqlite', workerData });
    worker.on('message', (answer: SqliteAnswer) => {
      if ('chars' in answer) noteReceived(running, answer.chars);
      if (worker === this.#worker) this.#settle(answer);
    });
    worker.on('error', (error: Error) => this.#lose(worker, error));
    worker.on('exit', () => this.#lose(worker, new Error('The thread of the SQLite database has ended')));
    this.#worker = worker;
    this.#generation += 1;
    return worker;
  }

  #settle(answer: SqliteAnswer): void {
    const pending = this.#take(answer.id);
    if ('value' in answer) pending?.resolve(answer.value as never);
    else if (answer.failure.name === resultTooLong) pending?.reject(tooLong(this.#mostChars));
    else pending?.reject(unpackFailure(answer.failure));
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker?.unref();
    return pending;
  }

  /** The next request starts another one. */
  #lose(worker: Worker, error: Error): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #checkMs(): number {
    return Math.min(longestCheckMs, Math.ceil(this.#statementTimeoutMs / 4));
  }

  #checkStatement(): void {
    this.#check = undefined;
    if (this.#pending.size === 0) return;
    const id = this.#lateStatement();
    // Its answer may have come by now and wait to be read.
    if (id !== undefined) setImmediate(() => id === this.#lateStatement() && this.#giveUp(id));
    this.#check = setTimeout(() => this.#checkStatement(), this.#checkMs()).unref();
  }

  /** The number of the request whose statement runs for too long. */
  #lateStatement(): number | undefined {
    const id = Atomics.load(this.#running, statementSlots.id);
    return this.#pending.has(id) && this.#runningMs() > this.#statementTimeoutMs ? id : undefined;
  }

  #runningMs(): number {
    return (clockTick() - Atomics.load(this.#running, statementSlots.since)) | 0;
  }

  #giveUp(id: number): void {
    // It is being stored just now, which ends soon.
    if (!decide(this.#running, id, 'give up')) return;
    this.#take(id)?.reject(statementTooLong(this.#statementTimeoutMs));
    const worker = this.#worker;
    if (!worker || this.#abandoned.size >= mostAbandoned) return;
    this.#worker = undefined;
    this.#abandon(worker);
    const left = [...this.#pending];
    this.#pending.clear();
    for (const [next, pending] of left) this.#post(next, pending);
  }

  #abandon(worker: Worker): void {
    Atomics.store(this.#running, statementSlots.abandoned, 1);
    // Whatever it is asked next, it leaves instead.
    worker.postMessage({ id: 0, request: { kind: 'close' } });
    worker.unref();
    this.#abandoned.add(worker);
    worker.once('exit', () => this.#abandoned.delete(worker));
  }
}

function statementTooLong(ms: number): Error {
  const originalMessage = `The statement was given up after ${ms} ms (DATABASE_STATEMENT_TIMEOUT_MS)`;
  return new DriverAdapterError({ kind: 'SocketTimeout', originalMessage });
}

function transactionLost(): Error {
  const originalMessage = 'The transaction was undone, because one of its statements was given up';
  return new DriverAdapterError({ kind: 'SocketTimeout', originalMessage });
}
