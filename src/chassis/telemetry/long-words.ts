/** The shortest word that `longCredential` matches. */
export const shortestLong = 80;

const dash = 45;
const underscore = 95;

/**
 * Whether a text holds so many characters of base64url in a row. It looks backwards from each place at which such a word would
 * have to go on: most texts are told by every eightieth of their characters, in a fiftieth of the time of a pattern.
 *
 * @param least how many, at least 1; by default as many as `longCredential` needs
 */
export function hasLongWord(text: string, least = shortestLong): boolean {
  let from = 0;
  while (from + least <= text.length) {
    let at = from + least - 1;
    while (at >= from && isOfWord(text.charCodeAt(at))) at -= 1;
    if (at < from) return true;
    from = at + 1;
  }
  return false;
}

function isOfWord(code: number): boolean {
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  const isDigit = code >= 48 && code <= 57;
  return isLetter || isDigit || code === dash || code === underscore;
}
