import { parentPort, workerData } from 'node:worker_threads';
import type { SqlDriverAdapter, SqlQueryable, Transaction } from '@prisma/driver-adapter-utils';
import { openSqlite } from './open-sqlite.ts';
import {
  clockTick,
  packFailure,
  type SqliteAnswer,
  type SqliteMessage,
  type SqliteRequest,
  type SqliteThreadData,
  statementSlots,
} from './sqlite-messages.ts';

/** The thread of one SQLite file: takes requests of `SqliteThread` one after the other and answers each. */
const { path, running } = workerData as SqliteThreadData;
const port = parentPort;
if (!port) throw new Error('Expected to run as a worker thread, found the main thread; use connectSqlite().');

let connection: SqlDriverAdapter | undefined;
let transaction: Transaction | undefined;
let current = 0;
let last: Promise<void> = Promise.resolve();

port.on('message', (message: SqliteMessage) => {
  last = last.then(() => answer(message));
});

async function answer({ id, request }: SqliteMessage): Promise<void> {
  // Another thread does by now what was asked of this one.
  if (Atomics.load(running, statementSlots.abandoned) === 1) return leave();
  current = id;
  let reply: SqliteAnswer;
  try {
    reply = { id, value: await perform(request) };
  } catch (error) {
    reply = { id, failure: packFailure(error) };
  }
  port?.postMessage(reply);
}

/** A file that could not be opened is tried again by the next request. */
async function perform(request: SqliteRequest): Promise<unknown> {
  connection ??= await openSqlite(path, watchStatement);
  const target: SqlQueryable = transaction ?? connection;
  switch (request.kind) {
    case 'query':
      return target.queryRaw(request.query);
    case 'execute':
      return target.executeRaw(request.query);
    case 'script':
      return connection.executeScript(request.script);
    case 'begin':
      transaction = await connection.startTransaction();
      return;
    case 'commit':
    case 'rollback':
      return endTransaction(request.kind);
    case 'close':
      return connection.dispose();
    default:
      return;
  }
}

async function endTransaction(how: 'commit' | 'rollback'): Promise<void> {
  const ended = transaction;
  transaction = undefined;
  try {
    await ended?.[how]();
  } catch (error) {
    // A commit that fails may leave the transaction open, and all that follows would be part of it.
    await ended?.rollback();
    throw error;
  }
}

/** An open transaction ends with its connection and leaves nothing. */
async function leave(): Promise<void> {
  port?.close();
  await connection?.dispose();
}

/** Another thread reads this while a statement keeps this one busy. */
function watchStatement(runs: boolean): void {
  Atomics.store(running, statementSlots.since, clockTick());
  Atomics.store(running, statementSlots.id, runs ? current : 0);
}
