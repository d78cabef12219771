import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { currentClientKey } from '../../context/request-context.ts';
import { tryAgain } from '../../errors/try-again.ts';
import { onClose } from '../../http/pipeline/request-pipeline.ts';
import { AddressTurns } from '../../http/streams/address-turns.ts';

/** After so long a client that waits has another give way that has more files under way, in milliseconds. */
const patienceMs = 250;

/** Cuts the connection of an answer that has to give way. */
type CutConnection = (socket: Socket, reason: 'displaced') => void;

/**
 * Bounds how many files are sent at the same time, because each holds what is read of it and not yet taken by its client.
 * Further ones wait for a place, and the address with the fewest is next. Clients that read slowly keep their places for long:
 * what has waited has the oldest of the address with the most files give way, if that has at least two more than its own.
 */
export class FilePlaces {
  readonly #turns: AddressTurns;
  readonly #cut: CutConnection;
  /** The answers of each address, the oldest first. */
  readonly #sending = new Map<string, Set<ServerResponse>>();

  /** @param places files at once */
  constructor(places: number, cut: CutConnection) {
    this.#turns = new AddressTurns(places, (address) => this.#sending.get(address)?.size ?? 0);
    this.#cut = cut;
  }

  /**
   * Waits for a place, which the answer has until it is closed.
   *
   * @throws ServiceUnavailableException at once where many wait, and most of them for the same client address
   */
  async enter(res: ServerResponse): Promise<void> {
    const address = currentClientKey();
    if (this.#turns.isCrowdedBy(address)) throw tryAgain('Too many files are being sent; try again in a moment');
    const turn = this.#turns.come(address);
    if (turn !== undefined) await this.#wait(turn, address, res);
    // Its client has gone meanwhile.
    if (res.closed) return void this.#turns.leave();
    const own = this.#sending.get(address) ?? new Set();
    this.#sending.set(address, own.add(res));
    onClose(res, () => this.#leave(address, own, res));
  }

  async #wait(turn: Promise<void>, address: string, res: ServerResponse): Promise<void> {
    const timer = setInterval(() => res.closed || this.#makeRoomFor(address), patienceMs).unref();
    await turn;
    clearInterval(timer);
  }

  #leave(address: string, own: Set<ServerResponse>, res: ServerResponse): void {
    own.delete(res);
    if (own.size === 0) this.#sending.delete(address);
    this.#turns.leave();
  }

  #makeRoomFor(address: string): void {
    const countOf = (answers: Set<ServerResponse> | undefined) => answers?.size ?? 0;
    let most: Set<ServerResponse> | undefined;
    for (const answers of this.#sending.values()) if (countOf(answers) > countOf(most)) most = answers;
    if (countOf(most) < countOf(this.#sending.get(address)) + 2) return;
    const [oldest] = most ?? [];
    if (oldest) this.#cut(oldest.req.socket, 'displaced');
  }
}
