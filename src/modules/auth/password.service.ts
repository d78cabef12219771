import { availableParallelism } from 'node:os';
import { chargeRequest, FewAtOnce, ValidationException } from 'slipway';
import { hashPassword, verifyPassword } from './password.hash.ts';
import { PasswordStrength } from './password.strength.ts';

/** What a new password must not be made of, and where it came from. */
export interface NewPassword {
  /** Words of the account: its e-mail address, its name. */
  personal: readonly string[];
  /** The field of the body that a refusal names. Default `password`. */
  field?: string;
}

/** What a computation costs, in the unit of `chargeRequest`: 30 to 50 ms of a core. */
const cost = 40;

/**
 * Hashes and checks passwords, a bounded number at a time: each computation holds 19 MiB and a thread of the pool that
 * files and DNS share, and together they leave a core to the event loop. Addresses that ask seldom go first. What finds no
 * place in the queue is answered 503 with Retry-After.
 */
export class PasswordService {
  readonly #turns: FewAtOnce;
  readonly #strength = new PasswordStrength();

  constructor(_cradle?: unknown, { cores = availableParallelism(), queueLength = 64 } = {}) {
    this.#turns = new FewAtOnce(Math.max(1, Math.min(2, cores - 1)), queueLength);
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

  /**
   * As `verifyPassword`.
   *
   * @param options whether the account is known at the address of the request; such ones take every second turn
   * @throws ServiceUnavailableException when too many wait
   */
  verify(password: string, hash: string | undefined, { isKnown = false } = {}): Promise<boolean> {
    return this.#inTurn(() => verifyPassword(password, hash), isKnown);
  }

  #inTurn<T>(work: () => Promise<T>, isKnown = false): Promise<T> {
    const charged = () => {
      chargeRequest(cost);
      return work();
    };
    return this.#turns.run(charged, { isKnown });
  }
}
