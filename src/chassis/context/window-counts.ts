/** What is left of what a key may use. */
export interface Left {
  /** Points used within the window, this request's among them. */
  used: number;
  /** Milliseconds until the window ends and all points are back. */
  resetMs: number;
}

/** Keys that are kept at most; some 200 bytes each. Clients choose some of them, such as addresses of accounts. */
const mostKeys = 20_000;
/** Where there is no room, the one of this many oldest that has used the least is forgotten. */
const candidates = 8;

/**
 * Counts points by key in this process's memory, in a window that begins with a key's first request. Answers at once: no
 * promise is made for a request. What has ended makes room when the next key comes; beyond a number of keys those make room
 * that have used little, so that who brings many keys does not have the count of another forgotten.
 */
export class WindowCounts {
  readonly #windowMs: number;
  /** In the order of their ends, because all windows have one length. */
  readonly #windows = new Map<string, { used: number; endsAt: number }>();

  /** @param seconds the length of the window */
  constructor(seconds: number) {
    this.#windowMs = seconds * 1000;
  }

  /** Keys whose window has not been seen to end. */
  get size(): number {
    return this.#windows.size;
  }

  /** Takes points of a key, whether there are any or not. */
  consume(key: string, points: number): Left {
    const now = Date.now();
    const window = this.#windows.get(key);
    if (window !== undefined && window.endsAt > now) {
      window.used += points;
      return { used: window.used, resetMs: window.endsAt - now };
    }
    this.#windows.delete(key);
    this.#dropEnded(now);
    if (this.#windows.size >= mostKeys) this.#makeRoom();
    this.#windows.set(key, { used: points, endsAt: now + this.#windowMs });
    return { used: points, resetMs: this.#windowMs };
  }

  /** What is used of a key now. */
  known(key: string): Left {
    const now = Date.now();
    const window = this.#windows.get(key);
    if (window === undefined || window.endsAt <= now) return { used: 0, resetMs: this.#windowMs };
    return { used: window.used, resetMs: window.endsAt - now };
  }

  #makeRoom(): void {
    let least: [key: string, used: number] | undefined;
    let seen = 0;
    for (const [key, { used }] of this.#windows) {
      if (least === undefined || used < least[1]) least = [key, used];
      seen += 1;
      if (seen === candidates) break;
    }
    if (least !== undefined) this.#windows.delete(least[0]);
  }

  #dropEnded(now: number): void {
    for (const [key, { endsAt }] of this.#windows) {
      if (endsAt > now) return;
      this.#windows.delete(key);
    }
  }
}
