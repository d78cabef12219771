import { WindowCounts } from '../admission/rate-limit.ts';
import type { AskedRoom, Reservation } from './lent-room.ts';

/** For how long a form that gave way counts for its client, in seconds. */
const recently = 60;
/** The rest of the places is for forms that have given way and end. */
const readShare = 0.75;
/** What a form that has just come counts as: this many bytes in its first second. */
const headStartBytes = 16_384;
const firstSecondMs = 1000;

/** A form that comes in. */
export interface ComingForm {
  /** The address that sends it, as `clientKey` gives it. */
  readonly client: string;
  /** How much of it has come, in bytes. */
  readonly received: () => number;
  /** The room that is kept for its file. Default: none is. */
  readonly room?: Reservation | undefined;
  /** Is called when the form has to make room for another. */
  readonly giveWay: () => void;
}

/** A form has been coming for long after this time, and after what its file takes by most lines, of 400 KB a second. */
const longMs = 5_000;
const usualPace = 400;

/** How a form comes in. */
interface Coming {
  readonly form: ComingForm;
  /** How many its client has under way or had give way lately. */
  readonly forms: number;
  /** Its bytes per millisecond divided by these. */
  readonly share: number;
  /** For how long it has been coming, in milliseconds. */
  readonly ms: number;
}

/**
 * Bounds how many forms come in at the same time. Beyond three quarters of the places one gives way to a new one: the one
 * with the fewest bytes per second since it came, divided by how many forms its client has under way or had give way within
 * a minute. So those give way that send nothing, or a byte now and then, and those of a client with many, at once or one after
 * the other; to seem faster costs a client the bytes. A new form is refused where it would be the one, unless it is the only
 * one of its client. A form keeps its place until it has ended, and one that finds none is refused.
 */
export class ComingForms {
  readonly #places: number;
  /** Those that have not given way, and when they came, in milliseconds of `performance.now()`. */
  readonly #read = new Map<ComingForm, number>();
  readonly #gaveWay = new WindowCounts(recently);
  #taken = 0;

  /** @param places forms that may have memory at once */
  constructor(places: number) {
    this.#places = places;
  }

  /**
   * Takes a place.
   *
   * @returns to be called once the form has ended, however it did, or holds no more memory; undefined where there is no place
   */
  enter(form: ComingForm): (() => void) | undefined {
    if (this.#taken >= this.#places) return undefined;
    const isFull = this.#read.size >= this.#places * readShare;
    this.#read.set(form, performance.now());
    if (isFull) {
      // Else fast forms that take all places would keep out who comes for the first time.
      const mayGiveWay = this.#coming().filter((one) => one.form !== form || one.forms > 1);
      const first = slowest(mayGiveWay)?.form;
      if (first === form) {
        this.#read.delete(form);
        return undefined;
      }
      if (first) this.#end(first);
    }
    this.#taken += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#read.delete(form);
      this.#taken -= 1;
    };
  }

  /**
   * Has one give way for room that a file waits for. At any pace it is one of the address that has the most room, the slowest,
   * if it sends several and has more than the other would have then; else the slowest of all, if it is slower than one that has
   * just come, or has been coming for long. None gives way to another address that has as much.
   */
  makeRoom({ client, wouldHave, lent, held }: AskedRoom): void {
    const heldBy = (of: string) => held.get(of) ?? 0;
    const coming = this.#coming().filter(({ form }) => form.room && lent.has(form.room));
    const sent = Map.groupBy(coming, ({ form }) => form.client);
    const several = coming.filter(({ form }) => (sent.get(form.client)?.length ?? 0) > 1);
    const [most] = several.toSorted(
      (one, other) => heldBy(other.form.client) - heldBy(one.form.client) || one.share - other.share,
    );
    if (most && heldBy(most.form.client) > wouldHave) {
      this.#stop(most.form);
      return;
    }
    const isLong = ({ form, ms }: Coming) =>
      form.client !== client && ms > Math.max(longMs, (form.room?.bytes ?? 0) / usualPace);
    const trickling = coming.filter((one) => one.share < headStartBytes / firstSecondMs || isLong(one));
    const mayGiveWay = ({ form }: Coming) => form.client === client || heldBy(form.client) > heldBy(client);
    const first = slowest(trickling.filter(mayGiveWay));
    if (first) this.#end(first.form);
  }

  #end(form: ComingForm): void {
    this.#gaveWay.consume(form.client, 1);
    this.#stop(form);
  }

  #stop(form: ComingForm): void {
    this.#read.delete(form);
    form.giveWay();
  }

  #coming(): Coming[] {
    const now = performance.now();
    const ofClient = new Map<string, number>();
    for (const { client } of this.#read.keys()) ofClient.set(client, (ofClient.get(client) ?? 0) + 1);
    return Array.from(this.#read, ([form, since]) => {
      const pace = (form.received() + headStartBytes) / (now - since + firstSecondMs);
      const forms = (ofClient.get(form.client) ?? 1) + this.#gaveWay.known(form.client).used;
      return { form, forms, share: pace / forms, ms: now - since };
    });
  }
}

function slowest(coming: readonly Coming[]): Coming | undefined {
  let first: Coming | undefined;
  for (const one of coming) if (first === undefined || one.share < first.share) first = one;
  return first;
}
