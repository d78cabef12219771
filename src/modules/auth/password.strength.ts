import common from './common-passwords.json' with { type: 'json' };

/** Shorter pieces occur in any text. */
const shortestPiece = 4;
/** As many as the longest common password has. */
const longestPiece = 20;
/** How many known pieces are left out of account. Three words make a passphrase. */
const pieces = 2;
/** What a password has to have beside two known pieces, in characters. */
const ownCharacters = 6;

/** Stands where a piece was, so that its two sides do not become a new one. */
const gap = '\0';

/** Digits and signs in a row, such as a date, count as 4. */
const longRun = /([^\p{L}\0]{4})[^\p{L}\0]+/gu;

/** What repeats over and over counts once. */
const repetition = /(.{1,5}?)\1{2,}/gsu;

/** Tells passwords that are easy to guess. It reads its list at first use, not at start. */
export class PasswordStrength {
  #common: ReadonlySet<string> | undefined;

  /**
   * Whether a password is one of the first that somebody would guess: less than 6 of its characters are left when the two
   * longest common passwords (common-passwords.json) and personal words in it are taken out, wherever they stand and however
   * often they repeat. `password2024!`, `qwertyqwerty` and `aaaaaaaaaaaa` are, three words are not. Case does not count.
   *
   * @param personal words of the account, such as its e-mail address and name; those of fewer than 4 characters do not count
   */
  isGuessable(password: string, personal: readonly string[]): boolean {
    const words = personal.flatMap((text) => [fold(text), ...fold(text).split(/[^\p{L}\p{N}]+/u)]);
    let rest = fold(password);
    for (let count = 0; count < pieces; count += 1) {
      const piece = longer(this.#longestCommon(rest), longestOf(words, rest));
      if (piece !== '') rest = rest.replaceAll(piece, gap);
    }
    const own = rest.replaceAll(longRun, '$1').replaceAll(gap, '').replaceAll(repetition, '$1');
    return own.length < ownCharacters;
  }

  /** The longest common password in a text; empty when there is none. */
  #longestCommon(text: string): string {
    this.#common ??= new Set(common.passwords.split(' '));
    for (let length = Math.min(longestPiece, text.length); length >= shortestPiece; length -= 1) {
      for (let start = 0; start + length <= text.length; start += 1) {
        const piece = text.slice(start, start + length);
        if (this.#common.has(piece)) return piece;
      }
    }
    return '';
  }
}

/** The longest of some words that stands in a text; empty when none does. */
function longestOf(words: readonly string[], text: string): string {
  return words.filter((word) => word.length >= shortestPiece && text.includes(word)).reduce(longer, '');
}

function longer(one: string, other: string): string {
  return other.length > one.length ? other : one;
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
