import type { Selection } from '../../query/query-types.ts';
import type { DataModel } from '../models/data-model.ts';
import type { ReadParameters } from './write-statement.ts';

/** As long as a list is taken to be that was too long to be read to its end, or of whose related records nothing is known. */
export const mostChars = 20_000_000;
/** Taken for a value that may be as long as its client liked, for any other, and for its name. */
const charsOfText = 250;
const charsOfValue = 30;
const freeText = new Set(['String', 'Json', 'Bytes']);

/**
 * What a list may give of which nothing is known, in characters: lists of related records are often more than the records, and each
 * of their texts may be long.
 */
export function likelyChars(dataModel: DataModel, model: string, { take = 0, select = {} }: ReadParameters): number {
  return Math.min(mostChars, take * charsOfRecord(dataModel, model, select));
}

function charsOfRecord(dataModel: DataModel, model: string, select: Selection): number {
  const fields = dataModel.models[model]?.fields;
  let chars = 0;
  for (const [name, part] of Object.entries(select)) {
    const { type, list, native } = fields?.[name] ?? { type: '', list: true };
    const isFree = list || (freeText.has(type) && native !== 'Uuid');
    if (part === true) chars += isFree ? charsOfText : charsOfValue;
    else chars += list ? mostChars : charsOfRecord(dataModel, type, (part as { select?: Selection }).select ?? {});
  }
  return chars;
}
