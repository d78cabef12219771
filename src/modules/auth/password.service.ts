import { ServiceUnavailableException, ValidationException } from 'slipway';
import { hashPassword, verifyPassword } from './password.hash.ts';
import { PasswordStrength } from './password.strength.ts';

/** What a new password must not be made of, and where it came from. */
export interface NewPassword {
  /** Words of the account: its e-mail address, its name. */
  personal: readonly string[];
  /** The field of the body that a refusal names. Default `password`. */
  field?: string;
}

/**
 * Hashes and checks passwords, a bounded number at a time: each computation holds 19 MiB and a thread of the pool that
 * files and DNS share. What finds no place in the queue is answered 503 at once, with Retry-After.
 */
export class PasswordService {
  readonly #atOnce: number;
  readonly #queueLength: number;
  readonly #queue: (() => void)[] = [];
  readonly #strength = new PasswordStrength();
  #running = 0;

  constructor(_cradle?: unknown, { atOnce = 2, queueLength = 64 } = {}) {
    this.#atOnce = atOnce;
    this.#queueLength = queueLength;
  }

  /**
   * The hash of a new password in PHC format.
   *
   * @throws ValidationException when the password is one of the first that somebody would guess (see PasswordStrength)
   * @throws ServiceUnavailableException when too many wait
   */
  async hash(password: string, { personal, field = 'password' }: NewPassword): Promise<string> {
    if (this.#strength.isGuessable(password, personal)) {
      throw new ValidationException({ [field]: ['Expected a password that is not easy to guess'] });
    }
    return this.#inTurn(() => hashPassword(password));
  }

  /** As `verifyPassword`. @throws ServiceUnavailableException when too many wait */
  verify(password: string, hash: string | undefined): Promise<boolean> {
    return this.#inTurn(() => verifyPassword(password, hash));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else if (this.#queue.length < this.#queueLength) await new Promise<void>((go) => this.#queue.push(go));
    else throw new ServiceUnavailableException(undefined, undefined, { headers: { 'Retry-After': '1' } });
    try {
      return await work();
    } finally {
      // The place goes to the next in line, or becomes free.
      const next = this.#queue.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
