import { isCostly, ordinaryCost, type RequestContext } from '../../context/request-context.ts';
import { keptAfter, mostAddresses } from './measured-use.ts';
import { addressKey } from './visitors.ts';

/** Stands for the statement where a place is for a unit of work: those of many callers would have all, and reads would wait. */
export const unitOfWorkPlace = 'unit of work';

/** A statement that has this much of the database, in milliseconds, is slow, until it has less than half of it on average. */
const slowStatementMs = 50;
const mostSlow = 500;
/** Each may be a query of some thousand characters in other words. */
const mostQuick = 1000;

/** The statements that were slow lately, which are few, and the latest that became known as quick; none is both. */
class KnownStatements {
  readonly #means = new Map<string, number>();
  readonly #quick = new Set<string>();

  has(statement: string | undefined): boolean {
    return statement !== undefined && this.#means.has(statement);
  }

  /** Whether a statement may be slow, because it has not been run yet. */
  knowsNothingOf(statement: string | undefined): boolean {
    return statement !== undefined && !this.#quick.has(statement) && !this.#means.has(statement);
  }

  /** Whether a statement was run lately and was not slow. */
  isQuick(statement: string | undefined): boolean {
    return statement !== undefined && this.#quick.has(statement);
  }

  /** Counts what a statement had of the database; the latest counts half. */
  ended(statement: string | undefined, hadMs: number): void {
    if (statement === undefined) return;
    if (hadMs < slowStatementMs && !this.#means.has(statement)) return void this.#noteQuick(statement);
    const mean = ((this.#means.get(statement) ?? hadMs) + hadMs) / 2;
    this.#means.delete(statement);
    if (mean < slowStatementMs / 2) return void this.#noteQuick(statement);
    this.#quick.delete(statement);
    this.#means.set(statement, mean);
    if (this.#means.size > mostSlow) this.#means.delete(this.#means.keys().next().value as string);
  }

  #noteQuick(statement: string): void {
    this.#quick.add(statement);
    if (this.#quick.size > mostQuick) this.#quick.delete(this.#quick.keys().next().value as string);
  }
}

/**
 * What a request may have of the database, in milliseconds, for what it is charged with: one that costs as much as any ordinary
 * one as long as a statement that is not slow.
 */
export function chargedMs(cost: number): number {
  return (cost / ordinaryCost) * slowStatementMs;
}

/** What requests of one address had of the database, in milliseconds, the latest most. */
interface Measured {
  hadMs: number;
  /** The same, each time as often as it is what was expected: long ones count most, so that many short ones do not hide them. */
  timesCharged: number;
  at: number;
}

/** Less of the database, in milliseconds, says nothing of a charge; nor is less expected, as of finding one record. */
const leastMs = 20;
/** What a request is charged with of which so little is expected. */
const leastCost = (leastMs / slowStatementMs) * ordinaryCost;
/** What finding few records by an index is charged with, and a page of them. */
const costOfFew = 5;
/** What finding one is charged with. */
const costOfOne = 1;
/** Who had less of the database lately, in milliseconds, may have had one list that took long: that says nothing of what comes next. */
const muchMs = 200;
/** So much as was expected is added to what was had, because one request says little; and after a pause nothing is left to say. */
const priorMs = 50;

/**
 * How many times what they were charged with the requests of an address had of the database. A charge is an estimate from what a
 * request asks for, and cannot know what the planner does with it. Somebody who asks for what is charged too little can change
 * the words of the request each time, and not what it takes.
 */
export class MeasuredCost {
  /** Those whose requests took longer than they were charged for. They are few, so that others cost next to nothing here. */
  readonly #addresses = new Map<string, Measured>();

  /** How many times its charge a request of an address is likely to cost; 1 at least, and where the address had little lately. */
  timesCharged(address: string, now: number): number {
    const measured = this.#addresses.get(address);
    if (measured === undefined) return 1;
    decay(measured, now);
    if (measured.hadMs < muchMs) return 1;
    return Math.max(1, (measured.timesCharged + priorMs) / (measured.hadMs + priorMs));
  }

  /** Counts a statement of a request, of which so much was expected. */
  ended(address: string, expected: number, hadMs: number, now: number): void {
    if (hadMs < leastMs) return;
    const measured = this.#addresses.get(address) ?? this.#open(address, hadMs > expected);
    if (measured === undefined) return;
    decay(measured, now);
    measured.hadMs += hadMs;
    measured.timesCharged += hadMs * (hadMs / Math.max(leastMs, expected));
  }

  #open(address: string, isMore: boolean): Measured | undefined {
    if (!isMore) return undefined;
    if (this.#addresses.size >= mostAddresses) this.#addresses.delete(this.#addresses.keys().next().value as string);
    const measured = { hadMs: 0, timesCharged: 0, at: 0 };
    this.#addresses.set(address, measured);
    return measured;
  }
}

function decay(measured: Measured, now: number): void {
  const kept = keptAfter(now - measured.at);
  measured.hadMs *= kept;
  measured.timesCharged *= kept;
  measured.at = now;
}

/**
 * Which work is costly: by what its request was charged with, by what that has meant lately where it comes from, by how many records
 * the answer may have, and what runs a statement that was slow lately, or that nothing is known of. A unit of work may hold up
 * others for as long as it likes. Where work is served one by one every read is costly but that of one record: there are threads
 * for them beside.
 */
export class CostlyWork {
  readonly #statements = new KnownStatements();
  readonly #measured = new MeasuredCost();
  readonly #isSerial: boolean;

  /** @param isSerial whether what is not costly is served one by one */
  constructor(isSerial: boolean) {
    this.#isSerial = isSerial;
  }

  /** @param statement the read, or `unitOfWorkPlace`; undefined for a write, or for a request as such */
  isCostly(context: RequestContext | undefined, statement?: string): boolean {
    if (context === undefined) return false;
    if (statement === unitOfWorkPlace || context.isLong || isCostly(context) || this.#statements.has(statement))
      return true;
    const { cost = 0 } = context;
    if (cost === 0) return false;
    // What a statement took with other values says little of these, and where work is served one by one all would wait for it.
    if (this.#isSerial && cost > costOfOne && isRead(statement)) return true;
    if (cost > costOfFew && this.#statements.knowsNothingOf(statement)) return true;
    return (
      Math.max(leastCost, cost) * this.#measured.timesCharged(addressKey(context), performance.now()) > ordinaryCost
    );
  }

  /** What a statement may have of the database, in milliseconds, for what its request is charged with; less where it was quick lately. */
  expectedMs(context: RequestContext | undefined, statement: string | undefined): number {
    const { cost = 0, isStreaming } = context ?? {};
    // A stream is charged for all that it sends, and asks for one part of it at a time.
    const expected = chargedMs(isStreaming ? Math.min(cost, ordinaryCost) : cost);
    return this.#statements.isQuick(statement) ? Math.min(expected, slowStatementMs) : expected;
  }

  /** Counts what a statement had of the database, in milliseconds. */
  countStatement(statement: string | undefined, hadMs: number): void {
    this.#statements.ended(statement, hadMs);
  }

  /** Counts what a request had of the database for sure with one of its statements, in milliseconds. */
  countRequest(context: RequestContext, hadMs: number, now: number): void {
    this.#measured.ended(addressKey(context), chargedMs(context.cost ?? 0), hadMs, now);
  }
}

const plainRead = /^\s*SELECT\b/i;

/** Whether a place is for what never writes, so that it may run on any connection. */
export function isRead(statement: string | undefined): boolean {
  return statement !== undefined && plainRead.test(statement);
}

/** Answers that took less time, in milliseconds, are not worth a look at the turn. */
const longMs = 20;

/** A moment, and how long the event loop had been idle before it, as `idleTime()` tells. */
export interface Moment {
  readonly at: number;
  readonly idleMs: number;
}

/** When an answer of the database was read, and in which turn of the event loop. */
type Read = Moment & { readonly turn: number };

/**
 * How long answers were awaited, without the time for which they may have waited themselves until the event loop read them. One
 * that is read in a turn had not come when the turn before began, nor while the loop was idle.
 */
export class AwaitedAnswers {
  /** The first answer of the latest turn that read any, and of the one before. */
  #last: Read = { turn: 0, at: 0, idleMs: 0 };
  #before = this.#last;
  /** Before the turn before the latest one. */
  #earlier = this.#last;

  /** Which part of the time since a place was lent an answer was awaited for sure that was asked for then, and is read now. */
  part(since: number, asked: Moment, now: number): number {
    const tookMs = now - asked.at;
    const idleNow = idleTime();
    if (tookMs >= longMs) this.#see(now, idleNow);
    const { at, idleMs: idleThen } = this.#earlier;
    const awaitedMs = at > asked.at ? at - asked.at + idleNow - idleThen : idleNow - asked.idleMs;
    return now > since ? Math.min(tookMs, awaitedMs) / (now - since) : 0;
  }

  #see(at: number, idleMs: number): void {
    const turn = performance.nodeTiming.uvMetricsInfo.loopCount;
    if (turn === this.#last.turn) return;
    this.#earlier = turn - this.#last.turn > 1 ? this.#last : this.#before;
    this.#before = this.#last;
    this.#last = { turn, at, idleMs };
  }
}

/** How long the event loop has had nothing to do, in milliseconds. */
export function idleTime(): number {
  return performance.nodeTiming.idleTime;
}
