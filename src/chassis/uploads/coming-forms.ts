import { WindowCounts } from '../admission/rate-limit.ts';

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
  /** Is called when the form has to make room for another. */
  readonly giveWay: () => void;
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
    const slowest = isFull ? this.#slowest(form) : undefined;
    if (slowest?.form === form) {
      this.#read.delete(form);
      return undefined;
    }
    if (slowest) this.#end(slowest.form);
    this.#taken += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#read.delete(form);
      this.#taken -= 1;
    };
  }

  /** Has the slowest give way, for what all files on their way take together, if it is slower than one that has just come. */
  makeRoom(): void {
    const slowest = this.#slowest();
    if (slowest && slowest.share < headStartBytes / firstSecondMs) this.#end(slowest.form);
  }

  #end(form: ComingForm): void {
    this.#read.delete(form);
    this.#gaveWay.consume(form.client, 1);
    form.giveWay();
  }

  /** @param newest has not sent anything yet */
  #slowest(newest?: ComingForm): { form: ComingForm; share: number } | undefined {
    const now = performance.now();
    const ofClient = new Map<string, number>();
    for (const { client } of this.#read.keys()) ofClient.set(client, (ofClient.get(client) ?? 0) + 1);
    let slowest: { form: ComingForm; share: number } | undefined;
    for (const [form, since] of this.#read) {
      const pace = (form.received() + headStartBytes) / (now - since + firstSecondMs);
      const forms = (ofClient.get(form.client) ?? 1) + this.#gaveWay.known(form.client).used;
      // Else fast forms that take all places would keep out who comes for the first time.
      if (form === newest && forms === 1) continue;
      const share = pace / forms;
      if (slowest === undefined || share < slowest.share) slowest = { form, share };
    }
    return slowest;
  }
}
