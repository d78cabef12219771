import { callerKey, clientKey, type RequestContext } from '../../context/request-context.ts';
import { type ServiceUnavailableException, TooManyRequestsException } from '../../errors/exceptions.ts';
import { tryAgain } from '../../errors/try-again.ts';
import { type PlacedStream, StreamPlaces } from './stream-places.ts';

/** What one address may have of all streams of rows: it may have many accounts. */
const shareOfAddress = 0.25;
/** What counts as all of them while memory is short: some of a few addresses, and of others one each. */
const shareWhileShort = 0.125;

/** How many streams of all callers may be under way at once. */
interface StreamLimits {
  /** Of rows: each holds the rows that its source has read. */
  rows: number;
  /** Of events: each holds a connection. */
  events: number;
}

/**
 * How many streams each caller has under way. One of rows costs more than a thousand requests, one of events holds its
 * connection and source for hours, and none of it is known when it is admitted: one client with hundreds of them would
 * leave others no time or no connection.
 */
export class StreamShares {
  readonly #callers = new Map<string, number>();
  readonly #rows: StreamPlaces;
  readonly #events: StreamPlaces;
  readonly #mostRowsOfAddress: number;
  readonly #mostRowsWhileShort: number;
  readonly #memory: { readonly isShort: boolean } | undefined;

  /** @param memory tells when it is short, so that few streams of rows begin */
  constructor({ rows, events }: StreamLimits, memory?: { readonly isShort: boolean }) {
    this.#memory = memory;
    this.#rows = new StreamPlaces(rows);
    this.#events = new StreamPlaces(events);
    this.#mostRowsOfAddress = Math.ceil(rows * shareOfAddress);
    this.#mostRowsWhileShort = Math.ceil(rows * shareWhileShort);
  }

  /**
   * Counts a stream of rows.
   *
   * @param context of its request
   * @param most of one caller at once
   * @returns ends the count
   * @throws TooManyRequestsException beyond that, and beyond a quarter of all for one address; ServiceUnavailableException
   * where all are taken and none gives way; while memory is short an eighth of them counts as all
   */
  enterRows(context: RequestContext | undefined, most: number, stream: PlacedStream): () => void {
    const address = clientKey(context?.ipAddress);
    const mostOfAll = this.#memory?.isShort ? this.#mostRowsWhileShort : undefined;
    return allOf(
      () => this.#enter(rowsOfAddress(address), Math.max(most, this.#mostRowsOfAddress)),
      () => this.#enter(`rows of ${callerKey(context)}`, most),
      () => placeOf(this.#rows, address, stream, mostOfAll),
    );
  }

  /** How many streams of rows the address of a request has under way. */
  rowsOf({ ipAddress }: RequestContext): number {
    return this.#callers.get(rowsOfAddress(clientKey(ipAddress))) ?? 0;
  }

  /**
   * Counts a stream of events.
   *
   * @param context of its request
   * @param most of one caller at once
   * @returns ends the count
   * @throws TooManyRequestsException beyond that; ServiceUnavailableException where all are taken and none gives way
   */
  enterEvents(context: RequestContext | undefined, most: number, stream: PlacedStream): () => void {
    return allOf(
      () => this.#enter(`events of ${callerKey(context)}`, most),
      () => placeOf(this.#events, clientKey(context?.ipAddress), stream),
    );
  }

  #enter(caller: string, most: number): () => void {
    const before = this.#callers.get(caller) ?? 0;
    if (before >= most) {
      throw new TooManyRequestsException(
        `${most} streams of yours are under way; try again after one of them`,
        undefined,
        { headers: { 'Retry-After': '1' }, stack: false },
      );
    }
    this.#callers.set(caller, before + 1);
    return () => {
      const left = (this.#callers.get(caller) ?? 1) - 1;
      if (left === 0) this.#callers.delete(caller);
      else this.#callers.set(caller, left);
    };
  }
}

const rowsOfAddress = (address: string) => `rows of address ${address}`;

/** That all places of streams are taken. */
export function tooManyStreams(): ServiceUnavailableException {
  return tryAgain('Too many streams are under way; try again in a moment');
}

function placeOf(places: StreamPlaces, address: string, stream: PlacedStream, most?: number): () => void {
  const leave = places.enter(address, stream, most);
  if (leave === undefined) throw tooManyStreams();
  return leave;
}

/** Enters all or none. */
function allOf(...steps: readonly (() => () => void)[]): () => void {
  const left: (() => void)[] = [];
  const leave = () => {
    for (const end of left) end();
  };
  try {
    for (const enter of steps) left.push(enter());
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}
