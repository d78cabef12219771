import exec from 'k6/execution';
import { missingFor, takesCredentials } from '../contract/missing.ts';
import type { ScenarioName } from '../lib/catalogue.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOf, type World } from '../lib/world.ts';
import err from './error-mix.ts';
import readAll from './export.ts';
import find from './find-list.ts';
import walkOn from './list-deep-cursor.ts';
import turnLatePage from './list-deep-page.ts';
import lookUp from './list-filtered-narrow.ts';
import browse from './list-filtered-wide.ts';
import askForAll from './list-include.ts';
import search from './list-search.ts';
import turnPage from './list-shallow.ts';
import sortByRelation from './list-sorted-by-relation.ts';
import readOne from './read-one.ts';
import upload from './upload.ts';
import write from './write-mix.ts';

/**
 * All that a service does in a day, mixed as from the night to the evening. Records are written while lists are read, so
 * what needs a list that stays as it is, is not checked here.
 */
export const options = optionsOf('day', { all: [250, 500] });
export const setup = setupOf('day');
export const handleSummary = reportOf('day');

type Journey = (world: World) => void;

/** Shares of each journey in the four parts of a day: night, morning, noon, evening. */
const shares: [scenario: ScenarioName, journey: Journey, shares: number[]][] = [
  ['read-one', readOne, [15, 35, 35, 35]],
  ['list-shallow', turnPage, [10, 25, 22, 25]],
  ['list-filtered-narrow', lookUp, [5, 10, 10, 8]],
  ['list-filtered-wide', browse, [2, 8, 10, 12]],
  ['list-search', search, [1, 6, 8, 8]],
  ['list-sorted-by-relation', sortByRelation, [1, 2, 3, 3]],
  ['list-include', askForAll, [1, 2, 2, 2]],
  ['list-deep-page', turnLatePage, [5, 2, 1, 1]],
  ['list-deep-cursor', walkOn, [45, 2, 1, 1]],
  ['find-list', find, [10, 2, 2, 1]],
  ['export', readAll, [2, 0, 0, 0]],
  ['write-mix', write, [1, 4, 4, 2]],
  ['upload', upload, [0, 1, 1, 1]],
  ['error-mix', err, [2, 1, 1, 1]],
];

export default function live(world: World): void {
  const part = Math.min(3, Math.floor(4 * exec.scenario.progress));
  const possible = shares.filter(([scenario]) => isPossible(scenario, world));
  const sum = possible.reduce((total, [, , weights]) => total + (weights[part] ?? 0), 0);
  let left = sum * Math.random();
  for (const [, journey, weights] of possible) {
    left -= weights[part] ?? 0;
    if (left >= 0) continue;
    journey(world);
    return;
  }
}

function isPossible(scenario: ScenarioName, { resource, upload: route, session }: World): boolean {
  const uploads = route ? [route] : [];
  if (missingFor(scenario, resource, uploads)) return false;
  return session !== undefined || !takesCredentials(scenario, resource, uploads);
}
