/** The rest of the places is for forms that have given way and end. */
const readShare = 0.75;

/**
 * Bounds how many forms come in at the same time. Beyond three quarters of the places the oldest gives way to a new one:
 * honest clients finish soon. It keeps its place until it has ended, and a form that finds none is refused.
 */
export class ComingForms {
  readonly #places: number;
  /** How each is told to give way, in the order in which they came. */
  readonly #read = new Set<() => void>();
  #taken = 0;

  /** @param places forms that may have memory at once */
  constructor(places: number) {
    this.#places = places;
  }

  /**
   * Takes a place.
   *
   * @param giveWay is called when the form has to make room for another
   * @returns to be called once the form has ended, however it did; undefined where there is no place
   */
  enter(giveWay: () => void): (() => void) | undefined {
    if (this.#taken >= this.#places) return undefined;
    const [oldest] = this.#read;
    if (oldest !== undefined && this.#read.size >= this.#places * readShare) {
      this.#read.delete(oldest);
      oldest();
    }
    this.#read.add(giveWay);
    this.#taken += 1;
    return () => {
      this.#read.delete(giveWay);
      this.#taken -= 1;
    };
  }
}
