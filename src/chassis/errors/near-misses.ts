const mostChanges = 2;

/** The names that two letters at most tell from `name`. */
export function nearMisses(name: string, names: readonly string[]): string[] {
  return names.filter((known) => distance(name, known) <= mostChanges);
}

/** How many letters to change, add or leave out, to make one name of another. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
