import common from './common-passwords.json' with { type: 'json' };

/** Shorter pieces occur in any text. */
const shortestPiece = 4;
/** As many as the longest common password has. */
const longestPiece = 20;
/** How many known pieces are left out of account. Three words make a passphrase. */
const pieces = 2;
/** Shorter words of an account, such as the `com` of an address, say little. */
const shortestWord = 3;
/** What a password has to have beside known pieces, in characters. */
const ownCharacters = 6;

/** Passwords that can be read in public: of this project's sample accounts, and of a cartoon. */
const published = ['slipway-demo-password', 'slipwaydemopassword', 'slipway', 'correct horse battery staple'];

/** Of a password so many characters are looked at: folded, one letter may become 18. */
const longestLookedAt = 128;

/** Stands where a piece was, so that its two sides do not become a new one. */
const gap = '\0';

/** Digits and signs in a row, such as a date, count as 4. */
const longRun = /([^\p{L}\0]{4})[^\p{L}\0]+/gu;

/** What repeats over and over counts once. */
const repetition = /(.{1,5}?)\1{2,}/gsu;

const betweenWords = /[^\p{L}\p{N}]+/u;

/** What fingers run along: the alphabet, digits, the rows of keyboards. */
const rows = [
  ...['abcdefghijklmnopqrstuvwxyz', '1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm', 'qwertzuiop', 'yxcvbnm'],
  ...[
    'azertyuiop',
    'qsdfghjklm',
    'wxcvbn',
    '\u0439\u0446\u0443\u043a\u0435\u043d\u0433\u0448\u0449\u0437',
    '\u0444\u044b\u0432\u0430\u043f\u0440\u043e\u043b\u0434\u0436',
  ],
];
const runLength = 4;
const runs: ReadonlySet<string> = new Set(rows.flatMap((row) => [row, reversed(row)]).flatMap(runsOf));

/** Tells passwords that are easy to guess. It reads its list at first use, not at start. */
export class PasswordStrength {
  #common: ReadonlySet<string> | undefined;

  /**
   * Whether a password is one of the first that somebody would guess: less than 6 of its characters are left when the words
   * of the account, the two longest common passwords in it (common-passwords.json; one beside a word of the account) and runs
   * such as `abcdefgh` are taken out, wherever they stand and however often they repeat. `password2024!`, `qwertyqwerty` and
   * `aaaaaaaaaaaa` are, three words are not. Neither case nor diacritics count.
   *
   * @param personal words of the account, such as its e-mail address and name; those of fewer than 3 characters do not count
   */
  isGuessable(password: string, personal: readonly string[]): boolean {
    const folded = fold(password).slice(0, longestLookedAt);
    const words = [...published, ...personal.flatMap(wordsOf)].toSorted((one, other) => other.length - one.length);
    const strange = words.reduce((rest, word) => rest.replaceAll(word, gap), folded);
    const left = strange === folded ? pieces : pieces - 1;
    const single = folded.replaceAll(/(.)\1+/gsu, '$1');
    return [
      this.#withoutCommon(strange, left),
      this.#withoutCommon(withoutRuns(strange), left),
      withoutRuns(single),
      withoutRuns(alternating(folded)),
    ].some((rest) => countOwn(withoutRuns(rest)) < ownCharacters);
  }

  #withoutCommon(text: string, count: number): string {
    let rest = text;
    for (let index = 0; index < count; index += 1) {
      const piece = this.#longestCommon(rest);
      if (piece !== '') rest = rest.replaceAll(piece, gap);
    }
    return rest;
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

function countOwn(rest: string): number {
  return rest.replaceAll(longRun, '$1').replaceAll(gap, '').replaceAll(repetition, '$1').length;
}

/** A name, and the part of an e-mail address before the `@`, count whole, without what separates their words, and by word. */
function wordsOf(text: string): string[] {
  const [own = '', domain = ''] = fold(text).split('@');
  const parts = own.split(betweenWords);
  const ofDomain = domain.split('.').filter(({ length }) => length >= shortestPiece);
  return [fold(text), own, parts.join(''), ...parts, ...ofDomain].filter(({ length }) => length >= shortestWord);
}

/** Of each run its first character. */
function withoutRuns(text: string): string {
  let rest = '';
  let end = 0;
  for (let index = 0; index < text.length; index += 1) {
    const inRun = index < end;
    if (runs.has(text.slice(index, index + runLength))) end = index + runLength;
    if (!inRun) rest += text.charAt(index);
  }
  return rest;
}

/** Two texts typed by turns, one after the other. */
function alternating(text: string): string {
  const characters = [...text];
  return [0, 1].map((turn) => characters.filter((_, index) => index % 2 === turn).join('')).join(gap);
}

/** All runs in a row, also across its end. */
function runsOf(row: string): string[] {
  const around = row + row.slice(0, runLength - 1);
  return Array.from(row, (_, index) => around.slice(index, index + runLength));
}

function reversed(text: string): string {
  return [...text].toReversed().join('');
}

/** Without case and diacritics; full-width letters and ligatures become plain ones. */
function fold(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}
