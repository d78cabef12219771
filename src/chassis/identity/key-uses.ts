import { runOutsideRequest } from '../context/request-context.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Where last uses are stored, by the ids of keys. */
interface UseStore {
  noteUses(uses: ReadonlyMap<string, Date>): Promise<void>;
}

/** When keys were last used: collected in memory and stored together, so that no request waits for it. */
export class KeyUses {
  readonly #store: UseStore;
  readonly #everyMs: number;
  readonly #logger: Pick<Logger, 'warn'>;
  #uses = new Map<string, Date>();
  #timer: NodeJS.Timeout | undefined;

  constructor(store: UseStore, everyMs: number, logger: Pick<Logger, 'warn'>) {
    this.#store = store;
    this.#everyMs = everyMs;
    this.#logger = logger;
  }

  /** Notes the use of a key; those of a replica that is killed are lost. */
  add(id: string, at: number): void {
    this.#uses.set(id, new Date(at));
    this.#timer ??= runOutsideRequest(() => setTimeout(() => void this.#write(), this.#everyMs).unref());
  }

  /** Stores what is left. Uses that are added later are not stored. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#write();
  }

  async #write(): Promise<void> {
    const uses = this.#uses;
    this.#uses = new Map();
    this.#timer = undefined;
    if (uses.size === 0) return;
    try {
      await this.#store.noteUses(uses);
    } catch (err) {
      // The next use is noted again.
      this.#logger.warn({ err, keys: uses.size }, 'last uses of API keys not stored');
    }
  }
}
