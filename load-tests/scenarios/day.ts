import exec from 'k6/execution';
import type { ScenarioName } from '../lib/catalogue.ts';
import { nextTurn, type Turn, turnsOf } from '../lib/day-plan.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { setupOfAll, type World, type Worlds } from '../lib/world.ts';
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
import order from './place-order.ts';
import readOne from './read-one.ts';
import upload from './upload.ts';
import write from './write-mix.ts';

/**
 * All that a service does in a day, of all its lists, mixed as from the night to the evening. Records are written while
 * lists are read, so what needs a list that stays as it is, is not checked here.
 */
export const options = optionsOf('day', { all: [250, 500] });
export const setup = setupOfAll('day');
export const handleSummary = reportOf('day');

const journeys: Readonly<Partial<Record<ScenarioName, (world: World) => void>>> = {
  'read-one': readOne,
  'list-shallow': turnPage,
  'list-filtered-narrow': lookUp,
  'list-filtered-wide': browse,
  'list-search': search,
  'list-sorted-by-relation': sortByRelation,
  'list-include': askForAll,
  'list-deep-page': turnLatePage,
  'list-deep-cursor': walkOn,
  'find-list': find,
  export: readAll,
  'write-mix': write,
  'place-order': order,
  upload,
  'error-mix': err,
};

/** Each user works them out once. */
let turns: Turn[] | undefined;

export default function live({ lists }: Worlds): void {
  turns ??= turnsOf(lists);
  const part = Math.min(3, Math.floor(4 * exec.scenario.progress));
  const next = nextTurn(turns, part, Math.random);
  if (next) journeys[next.scenario]?.(next.world);
}
