import type { PolicyRules } from '../policy/policy-rules.ts';
import type { Filter } from '../query-types.ts';
import { checkBounds, inParameter, Refusal } from './parameter.ts';

/**
 * The filter of a search box: records of which one of the declared fields contains the text, whatever the case of its
 * letters. Undefined for an empty text.
 *
 * @param text the parameter `q` of a request
 * @throws BadRequestException for what is no text of a length that the policy allows
 */
export function parseSearchBox({ search, limits }: PolicyRules, text: unknown): Filter | undefined {
  if (text === undefined || search.length === 0) return undefined;
  return inParameter('q', () => {
    if (typeof text !== 'string') throw new Refusal([], 'expected one text');
    const contains = text.trim();
    if (contains === '') return undefined;
    checkBounds(contains, limits);
    if (contains.length > limits.searchText)
      throw new Refusal([], `expected at most ${limits.searchText} characters, got ${contains.length}`);
    const compared = { contains, mode: 'insensitive' };
    return { OR: search.map((path) => path.reduceRight<Filter>((inner, name) => ({ [name]: inner }), compared)) };
  });
}
