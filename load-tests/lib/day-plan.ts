import { missingFor, takesCredentials } from '../contract/missing.ts';
import { catalogue, isFound, type ScenarioName } from './catalogue.ts';
import type { World } from './world.ts';

/** How many of a hundred iterations are of each journey in the four parts of a day: night, morning, noon, evening. */
const shares: Readonly<Partial<Record<ScenarioName, readonly number[]>>> = {
  'read-one': [15, 34, 34, 35],
  'list-shallow': [10, 24, 21, 24],
  'list-filtered-narrow': [5, 10, 10, 8],
  'list-filtered-wide': [2, 8, 10, 12],
  'list-search': [1, 6, 8, 8],
  'list-sorted-by-relation': [1, 2, 3, 3],
  'list-include': [1, 2, 2, 2],
  'list-deep-page': [5, 2, 1, 1],
  'list-deep-cursor': [44, 2, 1, 1],
  'find-list': [10, 2, 2, 1],
  export: [2, 0.5, 0.5, 0.5],
  'write-mix': [1, 4, 4, 2],
  'place-order': [1, 2, 2, 2],
  upload: [0, 1, 1, 1],
  'error-mix': [2, 1, 1, 1],
};

/** A journey that a day has, and the lists that it may be of, the one with the most records first. */
export interface Turn {
  readonly scenario: ScenarioName;
  readonly shares: readonly number[];
  readonly lists: readonly World[];
}

/** The journeys of a day: lists are read by turns; what is of no list, such as writes, is of the first that has it. */
export function turnsOf(lists: readonly World[]): Turn[] {
  return Object.entries(shares).flatMap(([name, parts]) => {
    const scenario = name as ScenarioName;
    const fit = lists.filter((world) => isPossible(scenario, world));
    // What is uploaded belongs to a record.
    const owner = fit.find(({ resource, upload }) => upload?.path.startsWith(`${resource.path}/`));
    const [first] = scenario === 'upload' && owner ? [owner] : fit;
    const chosen = catalogue[scenario].perList || !first ? fit : [first];
    return chosen.length > 0 ? [{ scenario, shares: parts, lists: chosen }] : [];
  });
}

/**
 * What somebody does next: half of the time of the list with the most records, else of any that has it.
 *
 * @param part 0 for the night to 3 for the evening
 * @param random a number from 0 up to but not including 1, each time another
 */
export function nextTurn(
  turns: readonly Turn[],
  part: number,
  random: () => number,
): { scenario: ScenarioName; world: World } | undefined {
  let left = random() * turns.reduce((sum, { shares }) => sum + (shares[part] ?? 0), 0);
  for (const { scenario, shares, lists } of turns) {
    left -= shares[part] ?? 0;
    if (left >= 0) continue;
    const index = random() < 0.5 ? 0 : Math.floor(random() * lists.length);
    const world = lists[index];
    return world && { scenario, world };
  }
  return undefined;
}

function isPossible(scenario: ScenarioName, world: World): boolean {
  const uploads = world.upload ? [world.upload] : [];
  if (missingFor(scenario, world.resource, uploads)) return false;
  if (!world.session && takesCredentials(scenario, world.resource, uploads)) return false;
  return catalogue[scenario].reads.every((part) => isFound(world, part));
}
