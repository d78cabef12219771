import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { uninterrupted } from '../context/request-context.ts';
import type { OrmClient } from '../database/client/orm-types.ts';
import { ConflictException, UnprocessableContentException } from '../errors/exceptions.ts';
import { KeyTurns } from './key-turns.ts';

/** A row of the model `IdempotencyKey`. */
interface KeyRecord {
  fingerprint: string;
  owner: string;
  lockedUntil: Date;
  answer: string | null;
  expiresAt: Date;
}

/** What is asked of the ORM; the model is that of the service's own prisma/models.prisma. */
interface KeyDelegate {
  create(query: object): Promise<unknown>;
  findUnique(query: object): Promise<KeyRecord | null>;
  updateMany(query: object): Promise<{ count: number }>;
  deleteMany(query: object): Promise<{ count: number }>;
}

/** How long things take, in milliseconds. */
export interface KeyTimes {
  /** How long an answer is kept. */
  keepMs: number;
  /** How long a key stays taken whose request neither ended nor failed, such as that of a process that was killed. */
  lockMs: number;
  /** How long a request waits for another one with its key. */
  waitMs: number;
}

/** Which request it is: the same one has the same id and fingerprint. */
export interface KeyedRequest {
  /** Names caller, route and key. */
  id: string;
  /** Names path, query and body. */
  fingerprint: string;
  /** Whose quota it counts for. */
  caller: string;
}

/** A key of a request, as it is stored. */
export interface OwnedKey {
  id: string;
  owner: string;
}

/** A key that this request has taken: it alone runs. */
export interface TakenKey extends OwnedKey {
  /** Lets the next request of this process with the key go on; to be called when this one has ended. */
  leave(): void;
}

const firstPauseMs = 20;
const longestPauseMs = 250;
/** After how many new keys expired ones are looked for, and how many are then removed at most. */
const keysPerRemoval = 100;
const mostRemoved = 1_000;

/** The idempotency keys of a service, in its database. */
export class IdempotencyKeys {
  readonly #client: () => OrmClient;
  readonly #times: KeyTimes;
  readonly #turns: KeyTurns;
  #taken = 0;

  /** @param client of the unit of work under way, or the service's own */
  constructor(client: () => OrmClient, times: KeyTimes) {
    this.#client = client;
    this.#times = times;
    this.#turns = new KeyTurns(times.lockMs);
  }

  /**
   * Takes the key of a request, or gives the answer that it was used for. Waits for a request that has it.
   *
   * @throws UnprocessableContentException when it was used for another path or body
   * @throws ConflictException when the other request is still under way after the time to wait
   */
  async take(request: KeyedRequest): Promise<TakenKey | string> {
    const { id, fingerprint } = request;
    const { waitMs } = this.#times;
    const until = performance.now() + waitMs;
    if ((this.#turns.holder(id) ?? fingerprint) !== fingerprint) throw otherRequest();
    const leave = await this.#turns.enter(id, fingerprint, waitMs);
    if (!leave) throw inProgress();
    let taken: OwnedKey | string | undefined;
    try {
      taken = await this.#takeInTurn(request, until);
      return typeof taken === 'string' ? taken : { ...taken, leave };
    } finally {
      if (typeof taken !== 'object') leave();
    }
  }

  async #takeInTurn(request: KeyedRequest, until: number): Promise<OwnedKey | string> {
    const key = { id: request.id, owner: randomUUID() };
    if (await this.#insert(key, request)) return key;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const record = await this.#keys.findUnique({ where: { id: key.id } });
      if (!record) {
        // The other one failed meanwhile, and gave it up.
        if (await this.#insert(key, request)) return key;
        continue;
      }
      if (record.expiresAt.getTime() > Date.now()) {
        if (record.fingerprint !== request.fingerprint) throw otherRequest();
        if (record.answer !== null) return record.answer;
      }
      if (await this.#takeOver(key, request, record)) return key;
      if (performance.now() + pauseMs > until) throw inProgress();
      await wait(pauseMs);
    }
  }

  /**
   * Stores the answer of a request; to be called in its unit of work, so that both are stored or neither.
   *
   * @throws ConflictException when another request has taken over the key meanwhile
   */
  async complete({ id, owner }: OwnedKey, answer: string): Promise<void> {
    const { count } = await this.#keys.updateMany({ where: { id, owner, answer: null }, data: { answer } });
    if (count === 0) throw inProgress();
  }

  /** Gives a key up, so that the next request with it runs. */
  async release({ id, owner }: OwnedKey): Promise<void> {
    await uninterrupted(async () => await this.#keys.deleteMany({ where: { id, owner, answer: null } }));
  }

  /** Takes a key for this many milliseconds, without an answer; undefined where it is taken. `release` gives it up. */
  async reserve(id: string, ms: number): Promise<OwnedKey | undefined> {
    const now = new Date();
    const expiresAt = new Date(now.getTime() + ms);
    const key = { id, owner: randomUUID() };
    if (await this.#create({ ...key, fingerprint: '', lockedUntil: expiresAt, expiresAt })) return key;
    // One that has expired may not be removed yet.
    const expired = { id, expiresAt: { lte: now } };
    const { count } = await this.#keys.updateMany({ where: expired, data: { owner: key.owner, expiresAt } });
    return count === 1 ? key : undefined;
  }

  /** Removes some of those that have expired, at times. */
  async removeExpired(): Promise<void> {
    if (this.#taken++ % keysPerRemoval !== 0) return;
    const where = { expiresAt: { lt: new Date() } };
    await uninterrupted(async () => await this.#keys.deleteMany({ where, limit: mostRemoved }));
  }

  get #keys(): KeyDelegate {
    return (this.#client() as unknown as { idempotencyKey: KeyDelegate }).idempotencyKey;
  }

  #insert({ id, owner }: OwnedKey, { fingerprint }: KeyedRequest): Promise<boolean> {
    return this.#create({ id, owner, fingerprint, ...this.#until() });
  }

  async #create(data: object): Promise<boolean> {
    try {
      await this.#keys.create({ data, select: { id: true } });
      return true;
    } catch (error) {
      if (error instanceof ConflictException) return false;
      throw error;
    }
  }

  /** Takes a key that has expired, or whose request is taken for dead; of several that try one succeeds. */
  async #takeOver({ id, owner }: OwnedKey, { fingerprint }: KeyedRequest, before: KeyRecord): Promise<boolean> {
    const now = Date.now();
    const isExpired = before.expiresAt.getTime() <= now;
    if (!isExpired && before.lockedUntil.getTime() > now) return false;
    // One that was taken for dead may have stored its answer meanwhile, and must not run again.
    const { count } = await this.#keys.updateMany({
      where: { id, owner: before.owner, ...(!isExpired && { answer: null }) },
      data: { owner, fingerprint, answer: null, ...this.#until() },
    });
    return count === 1;
  }

  #until(): { lockedUntil: Date; expiresAt: Date } {
    const now = Date.now();
    return { lockedUntil: new Date(now + this.#times.lockMs), expiresAt: new Date(now + this.#times.keepMs) };
  }
}

function otherRequest(): UnprocessableContentException {
  return new UnprocessableContentException(
    'This Idempotency-Key was used for another request; send a new key, or the same path and body again',
  );
}

function inProgress(): ConflictException {
  return new ConflictException('A request with this Idempotency-Key is in progress; try again', undefined, {
    headers: { 'Retry-After': '1' },
  });
}
