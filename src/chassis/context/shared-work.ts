/** One of those who wait for shared work. */
export interface Sharer<Waiter> {
  readonly context: Waiter;
  /**
   * Gives it an error of its own, such as that it waited for too long, while the work goes on for the others. False where it
   * is the last one, which gets what the work raises.
   */
  leave(error: Error): boolean;
}

/** Work that several wait for. */
export interface SharedWork<Waiter> {
  /** Who gets its outcome. */
  readonly waiters: readonly Waiter[];
  /** Lets nobody join any more; to be called before the first look at what others may change. */
  close(): void;
  /** Calls `join` for all who wait for the end of the work now, and for each that comes, until the function given back is called. */
  watch(join: (sharer: Sharer<Waiter>) => void): () => void;
}
