/** What is kept, and whether it was asked for again since it was kept or last spared. */
export interface Kept {
  isUsed: boolean;
}

/**
 * Forgets the first of what is kept that was not asked for again; those before it come last then, as if they had been kept now
 * (second chance). So what clients make up once pushes out nothing that others use.
 *
 * @returns what was forgotten, by its key; undefined where nothing is kept
 */
export function forgetUnused<T extends Kept>(all: Map<string, T>): [key: string, kept: T] | undefined {
  for (const [key, kept] of all) {
    all.delete(key);
    if (!kept.isUsed) return [key, kept];
    kept.isUsed = false;
    all.set(key, kept);
  }
  return undefined;
}
