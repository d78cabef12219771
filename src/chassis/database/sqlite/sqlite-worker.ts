import { parentPort, workerData } from 'node:worker_threads';
import type { SqlResultSet } from '@prisma/driver-adapter-utils';
import { SqliteFile } from './sqlite-file.ts';
import {
  clockTick,
  decide,
  longResult,
  packFailure,
  type SqliteAnswer,
  type SqliteMessage,
  type SqliteRequest,
  type SqliteThreadData,
  statementSlots,
} from './sqlite-messages.ts';
import { charsOf } from './sqlite-statements.ts';

/** The thread of one SQLite file: takes requests of `SqliteThread` one after the other and answers each. */
const { path, dataModel, running, mostChars, onlyReads } = workerData as SqliteThreadData;
const port = parentPort;
if (!port) throw new Error('Expected to run as a worker thread, found the main thread; use connectSqlite().');

/** For how long it waits until long results were received. */
const longestWaitMs = 2000;

let file: SqliteFile | undefined;
let current = 0;

port.on('message', answer);

function answer({ id, request }: SqliteMessage): void {
  // Another thread does by now what was asked of this one.
  if (Atomics.load(running, statementSlots.abandoned) === 1) {
    leave();
    return;
  }
  current = id;
  let reply: SqliteAnswer;
  try {
    reply = answerWith(id, perform(request));
  } catch (error) {
    reply = { id, failure: packFailure(error) };
  }
  port?.postMessage(reply);
}

/**
 * Long results that come faster than they are received would fill the memory, so what is asked next waits for them where
 * all together are longer than one may be.
 */
function answerWith(id: number, value: unknown): SqliteAnswer {
  const { rows = [] } = (value ?? {}) as Partial<SqlResultSet>;
  let chars = 0;
  for (const row of rows) chars += charsOf(row);
  if (chars < longResult) return { id, value };
  const underWay = Atomics.add(running, statementSlots.underWay, chars) + chars;
  if (underWay > mostChars) Atomics.wait(running, statementSlots.underWay, underWay, longestWaitMs);
  return { id, value, chars };
}

function open(): SqliteFile {
  const watch = { running: watchStatement, beforeCommit: refuseGivenUp };
  return new SqliteFile(path, dataModel, watch, { mostChars, onlyReads });
}

/** A file that could not be opened is tried again by the next request. */
function perform(request: SqliteRequest): unknown {
  file ??= open();
  switch (request.kind) {
    case 'query':
    case 'execute':
      return file[request.kind](request.statement);
    case 'script':
      return file.script(request.script);
    case 'begin':
    case 'commit':
    case 'rollback':
    case 'close':
      return file[request.kind]();
    default:
      return;
  }
}

/**
 * An open transaction ends with its connection and leaves nothing. What was asked before the port closed still comes, and
 * the driver aborts the process when a closed file is used.
 */
function leave(): void {
  const closing = file;
  file = undefined;
  port?.close();
  closing?.close();
}

/** Another thread reads this while a statement keeps this one busy. */
function watchStatement(runs: boolean): void {
  Atomics.store(running, statementSlots.since, clockTick());
  Atomics.store(running, statementSlots.id, runs ? current : 0);
}

function refuseGivenUp(): void {
  if (!decide(running, current, 'store')) throw new Error('The request was given up, so nothing of it is stored.');
}
