import type { Request } from 'express';
import { currentClientKey } from '../../context/request-context.ts';
import { tryAgain } from '../../errors/try-again.ts';
import { onClose } from '../pipeline/request-pipeline.ts';

/** A value in memory takes no more than this beside its characters, whether a number, a text, a name or an empty list. */
const valueBytes = 48;
const wideCharacterBytes = 2;
/** Work whose client has gone ends at its next step; what it waits for comes within this time, or never. */
const abandonedMs = 5_000;

const keptKey = Symbol('count of a body');

/** What is counted of the body of a request. */
interface Count {
  bytes: number;
  end(): void;
}

type KeptRequest = Request & { [keptKey]?: Count };

/**
 * How much memory a body takes once it is parsed, in bytes.
 *
 * @param length how many bytes the text was
 * @param values how many values and names it holds
 */
export function parsedBytes(text: string, length: number, values: number): number {
  const characterBytes = text.length === length ? 1 : wideCharacterBytes;
  return text.length * characterBytes + values * valueBytes;
}

/**
 * Bounds what bodies hold of memory from when they have come in until their requests are over: one that waits for its guards,
 * for an idempotency key, the database or another service keeps its body meanwhile, and a stream keeps it for hours. Each address may hold as much
 * as it leaves free, so that those who come later find room however many have taken theirs: one alone has a half, two a third.
 */
export class KeptBodies {
  readonly #limit: number;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What is held of all bodies, in bytes. */
  get held(): number {
    return this.#held;
  }

  /**
   * Counts what the body of a request holds, until the request is over; called again, what it holds by then.
   *
   * @param bytes in bytes
   * @throws ServiceUnavailableException for an address that holds too much
   */
  keep(req: KeptRequest, bytes: number): void {
    const count = req[keptKey];
    const before = count?.bytes ?? 0;
    const client = currentClientKey();
    const others = this.#held - before;
    const own = (this.#heldBy.get(client) ?? 0) - before;
    if (others > 0 && own + bytes > this.#limit - others) {
      throw tryAgain('Requests of yours with large bodies are under way; try again after one of them');
    }
    this.#add(client, bytes - before);
    if (count) count.bytes = bytes;
    else this.#open(req, client, bytes);
  }

  #open(req: KeptRequest, client: string, bytes: number): void {
    const count: Count = {
      bytes,
      end: () => {
        if (req[keptKey] !== count) return;
        delete req[keptKey];
        this.#add(client, -count.bytes);
      },
    };
    req[keptKey] = count;
    const endLate = () => void setTimeout(count.end, abandonedMs).unref();
    const { res } = req;
    if (res === undefined || res.destroyed) endLate();
    else onClose(res, () => (res.writableFinished ? count.end() : endLate()));
  }

  #add(client: string, bytes: number): void {
    this.#held += bytes;
    const left = (this.#heldBy.get(client) ?? 0) + bytes;
    if (left > 0) this.#heldBy.set(client, left);
    else this.#heldBy.delete(client);
  }
}

/** Gives up the body of a request whose method gives it no meaning (RFC 9110, 9.3.1), before an answer that takes long. */
export function dropBody(req: KeptRequest): void {
  if (req.method !== 'GET' && req.method !== 'HEAD') return;
  req.body = undefined;
  req[keptKey]?.end();
}
