import type { Request } from 'express';
import { clientKey, getRequestContext } from '../../context/request-context.ts';
import { ServiceUnavailableException } from '../../errors/exceptions.ts';
import { onClose } from '../pipeline/request-pipeline.ts';

/** A value in memory takes no more than this beside its characters, whether a number, a text, a name or an empty list. */
const valueBytes = 48;
const wideCharacterBytes = 2;
/** Work whose client has gone ends at its next step; what it waits for comes within this time, or never. */
const abandonedMs = 5_000;

const endKey = Symbol('ends the count of a body');

type KeptRequest = Request & { [endKey]?: () => void };

/** A body as it was read. */
interface ReadBody {
  readonly text: string;
  /** How many bytes the text was. */
  readonly length: number;
  /** How many values and names it holds. */
  readonly values: number;
}

/**
 * Bounds what parsed bodies hold of memory until their requests are over: one that waits for an idempotency key, for the
 * database or for another service keeps its body meanwhile, and a stream keeps it for hours. Each address may hold as much
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
   * Counts the body of a request until the request is over.
   *
   * @throws ServiceUnavailableException for an address that holds too much
   */
  keep(req: KeptRequest, { text, length, values }: ReadBody): void {
    const characterBytes = text.length === length ? 1 : wideCharacterBytes;
    const bytes = text.length * characterBytes + values * valueBytes;
    const client = clientKey(getRequestContext()?.ipAddress);
    if (this.#held > 0 && (this.#heldBy.get(client) ?? 0) + bytes > this.#limit - this.#held) throw tooMuchKept();
    this.#add(client, bytes);
    const end = () => {
      if (req[endKey] !== end) return;
      delete req[endKey];
      this.#add(client, -bytes);
    };
    req[endKey] = end;
    const endLate = () => void setTimeout(end, abandonedMs).unref();
    const { res } = req;
    if (res === undefined || res.destroyed) endLate();
    else onClose(res, () => (res.writableFinished ? end() : endLate()));
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
  req[endKey]?.();
}

function tooMuchKept(): ServiceUnavailableException {
  return new ServiceUnavailableException(
    'Requests of yours with large bodies are under way; try again after one of them',
    undefined,
    { headers: { 'Retry-After': '1' }, stack: false },
  );
}
