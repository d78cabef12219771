import { namesIn } from './constraints-of.ts';
import type { DeclaredModels } from './read-models.ts';

/** Indexes of kinds that only PostgreSQL has. */
export const foreignIndex = /^\s*@@index\b.*\b(type:\s*(?!BTree)\w|ops:)/;

const keys = /^@@(?:index|unique|id)\(\s*(?:fields:\s*)?\[(.*?)\](?=\s*[,)])/;

/**
 * The fields of each index of each model in their order, those of its keys too: of those that both databases have and that
 * hold all records.
 */
export function indexesOf({ models, blocks }: DeclaredModels): Map<string, string[][]> {
  const entries = [...models].map(([model, fields]): [string, string[][]] => {
    const own = fields.filter(({ attributes }) => /@(id|unique)\b/.test(attributes)).map(({ name }) => [name]);
    const whole = (blocks.get(model) ?? []).filter((line) => !foreignIndex.test(line) && !/\bwhere:/.test(line));
    const composite = whole.flatMap((line) => keys.exec(line)?.[1] ?? []).map(namesIn);
    return [model, [...own, ...composite]];
  });
  return new Map(entries);
}
