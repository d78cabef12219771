/** Positions of the primary that are kept; further ones are left out until the replica has reached one. */
const mostKept = 3600;

/**
 * How far a replica is behind its primary in time: for how long it has lacked what the primary had. The replica's own clock
 * and its last transaction tell nothing of that while nothing is written, or once it has lost its primary.
 */
export class ReplicaLag {
  /** What the primary had when, and the replica has not yet, the oldest first. */
  readonly #lacking: { readonly position: bigint; readonly at: number }[] = [];

  /** Notes where the primary was. @param now milliseconds of a clock that never jumps */
  primaryAt(position: bigint, now: number): void {
    if (this.#lacking.length < mostKept) this.#lacking.push({ position, at: now });
  }

  /** Notes what the replica has. */
  replicaAt(position: bigint): void {
    const reached = this.#lacking.findIndex((sample) => sample.position > position);
    this.#lacking.splice(0, reached === -1 ? this.#lacking.length : reached);
  }

  /** Seconds for which it has lacked something; 0 when it has all that is known of the primary. */
  seconds(now: number): number {
    const [oldest] = this.#lacking;
    return oldest ? (now - oldest.at) / 1000 : 0;
  }
}
