import { getRequestContext, type RequestContext } from '../../context/request-context.ts';
import { tryAgain } from '../../errors/try-again.ts';
import { type ReadLimits, untilRoom } from './read-room.ts';
import { RequestQueue } from './request-queue.ts';

/**
 * Lists of much text that are read at once: the event loop is busy with their answers for longer than the database with them, and
 * `ReadRoom` counts what comes in, not what becomes of it. Without this 250 lists of 4 MB filled a pod of 256 MiB to its last.
 */
const atOnce = { places: 2, placesOfSlow: 1 };
/** Where nothing knows how much comes in before it has come; requests whose reads may take long have as many. */
const inTurns = { places: 1, placesOfSlow: 1 };

/** Runs reads of much text. */
export type LongReads = Pick<RequestQueue, 'run'>;

/** How reads wait for memory where connections, which learn how much comes, do not. */
interface InTurns {
  readonly reads: ReadLimits;
  /** Tells whose reads may take long, for which others do not wait. */
  readonly requests: Pick<RequestQueue, 'mayTakeLong'>;
}

/**
 * Where lists of much text take turns.
 *
 * @param timeoutMs how long one waits at most; undefined for as long as it takes
 * @param turns where each waits until the answer before it is made, and for memory: five times as much as was read. Undefined
 * where connections wait
 */
export function longReads(timeoutMs: number | undefined, turns: InTurns | undefined): LongReads {
  // The database is there, and has connections.
  const late = () => tryAgain('Too many long lists are asked for; try again in a moment');
  if (!turns) return new RequestQueue({ ...atOnce, late, timeoutMs });
  const { reads, requests } = turns;
  const ofLight = new RequestQueue({ ...inTurns, late, timeoutMs });
  const ofHeavy = new RequestQueue({ ...inTurns, late, timeoutMs });
  const takeTurn = async (context: RequestContext | undefined) => {
    for (;;) {
      const isHeavy = requests.mayTakeLong(context);
      const { leave } = await (isHeavy ? ofHeavy : ofLight).enter(async () => undefined);
      // Its client may have had much meanwhile.
      if (isHeavy === requests.mayTakeLong(context)) return leave;
      leave();
    }
  };
  /** The places of answers, by their endings: what an answer reads beside needs no further one. */
  const places = new WeakMap<object, Promise<unknown>>();
  return {
    run: async (read) => {
      const inRoom = async () => {
        await untilRoom(reads);
        return read();
      };
      const context = getRequestContext();
      const endings = context?.endings;
      if (endings === undefined) {
        const leave = await takeTurn(context);
        return inRoom().finally(leave);
      }
      const known = places.get(endings);
      if (known !== undefined) {
        await known;
        return inRoom();
      }
      const taking = takeTurn(context);
      places.set(endings, taking);
      const leave = await taking;
      // Who asked first may have gone, and others share what it asked for.
      if (context?.endings !== endings) return inRoom().finally(leave);
      endings.push(leave);
      return inRoom();
    },
  };
}

/** How long texts are together, in bytes. */
export function bytesOf(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
}
