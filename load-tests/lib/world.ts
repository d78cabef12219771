import { narrowFilters, type Question, searchWords, whereOf, wideFilters } from '../contract/conditions.ts';
import type { Row } from '../contract/fields.ts';
import { idOf, type Page } from '../contract/invariants.ts';
import { missingFor, takesCredentials } from '../contract/missing.ts';
import type { ApiDocument } from '../contract/openapi.ts';
import { findResources, type Resource, resourceNamed } from '../contract/resource.ts';
import { type Upload, uploadsOf } from '../contract/uploads.ts';
import { catalogue, isFound, type Part, type ScenarioEntry, type ScenarioName } from './catalogue.ts';
import { type Answer, ask, bodyOf, type Query } from './client.ts';
import { openSession, type Session, tokenOf } from './session.ts';
import { setupEnd } from './summary-mark.ts';
import { readDocument, refuse, target } from './target.ts';

/** What the users of a scenario know: the list that it is of, and records of it. */
export interface World {
  readonly resource: Resource;
  /** Version of the service, of its document. */
  readonly version: string;
  readonly session?: Session;
  /** Records of the list when the run began. */
  readonly total: number;
  /** Whether nobody writes while the run lasts, so that totals and pages stay as they are. */
  readonly steady: boolean;
  /** Ids of records from all over the list. */
  readonly ids: readonly string[];
  /** A record, for bodies that refer to others as it does. */
  readonly example: Row;
  readonly wide: readonly Question[];
  readonly narrow: readonly Question[];
  /** Words that the search box finds, each with the number of records. */
  readonly words: readonly { word: string; total: number }[];
  /** What the largest page may include, and how many records it has then. */
  readonly include?: { readonly query: object; readonly pageSize: number };
  readonly upload?: Upload;
}

/**
 * Makes the `setup` of a scenario: reads the document, logs in where credentials are given, chooses the list and samples
 * it. Ends the run, with what to do, where the service has nothing for the scenario.
 */
export function setupOf(scenario: ScenarioName): () => World {
  return () => {
    const document = readDocument();
    const uploads = uploadsOf(document);
    const session = openSession(document);
    const { resource, total } = chooseResource(document, session, (one) => !missingFor(scenario, one, uploads));
    requireAll(scenario, { resource, uploads, session });
    const world = worldOf(scenario, { resource, session, total }, document);
    requireFound(world, catalogue[scenario].reads);
    tellEnd();
    return world;
  };
}

/** Lists of a scenario that is of all of them. */
export interface Worlds {
  /** The first of the lists, and its records when the run began: the run is named after it. */
  readonly resource: Resource;
  readonly total: number;
  readonly version: string;
  /** The main one, as other scenarios take it, and those beside it, the one with the most records first. */
  readonly lists: readonly World[];
}

/** The same of a scenario of all lists that can be read and have records, or of the one that RESOURCE names. */
export function setupOfAll(scenario: ScenarioName): () => Worlds {
  return () => {
    const document = readDocument();
    const session = openSession(document);
    const main = chooseResource(document, session, () => true);
    const lists = __ENV['RESOURCE'] ? [main] : [main, ...othersOf(document, session, main.resource)];
    const worlds = lists.map((list) => worldOf(scenario, { ...list, session }, document));
    tellEnd();
    return { ...main, version: versionOf(document), lists: worlds };
  };
}

/** The lists beside the main one that have records, the largest first. */
function othersOf(document: ApiDocument, session: Session | undefined, main: Resource): Counted[] {
  const others = findResources(document).filter(
    ({ path, routes }) => path !== main.path && (session || !routes.search?.guarded),
  );
  return byRecords(others, session).filter(({ total }) => total > 0);
}

function worldOf(scenario: ScenarioName, seen: Seen, document: ApiDocument): World {
  const { reads, writes = false }: ScenarioEntry = catalogue[scenario];
  const { resource, session, total } = seen;
  const samples = sampleRows(seen);
  const [upload] = uploadsOf(document);
  return {
    ...{ resource, total, version: versionOf(document) },
    ...{ steady: !writes && __ENV['STEADY'] !== 'false', ids: samples.map(idOf), example: samples[0] ?? {} },
    ...(session && { session }),
    ...(upload && { upload }),
    wide: reads.includes('wide') ? counted(seen, wideFilters(resource, samples)) : [],
    narrow: reads.includes('narrow') ? counted(seen, narrowFilters(resource, samples)) : [],
    words: reads.includes('words') && resource.searchBox ? foundWords(seen, samples) : [],
    ...(reads.includes('include') && largestInclude(seen)),
  };
}

function versionOf({ info }: ApiDocument): string {
  return info?.version ?? 'unknown';
}

/** What follows is measured. */
function tellEnd(): void {
  if (__ENV['SUMMARY_FILE']) console.info(setupEnd);
}

/** k6 brings it; its types do not say so. */
declare const console: { info(text: string): void };

/** Whether a scenario of this list takes credentials that were not given, or a route that is not there. */
function requireAll(
  scenario: ScenarioName,
  { resource, uploads, session }: { resource: Resource; uploads: Upload[]; session: Session | undefined },
): void {
  const missing = missingFor(scenario, resource, uploads);
  if (missing) refuse(`${resource.path} has no ${missing}, so ${scenario} has nothing to do.`);
  if (!session && takesCredentials(scenario, resource, uploads)) {
    refuse(`${scenario} of ${resource.path} takes credentials: give LOAD_EMAIL and LOAD_PASSWORD, or TOKEN.`);
  }
}

/** What a scenario asks for has to be found in the records that are stored. */
function requireFound(world: World, reads: readonly Part[]): void {
  for (const part of reads) {
    if (isFound(world, part)) continue;
    refuse(
      `no ${part === 'words' ? 'word' : 'filter'} made of the records of ${world.resource.path} finds any of them.`,
    );
  }
}

type Counted = { resource: Resource; total: number };
type Seen = Counted & { session: Session | undefined };

/** The list that RESOURCE names, else the one with the most records among those that may be read and have what it takes. */
function chooseResource(
  document: ApiDocument,
  session: Session | undefined,
  isFit: (resource: Resource) => boolean,
): Counted {
  const all = findResources(document);
  const name = __ENV['RESOURCE'];
  if (all.length === 0) return refuse(`the document of ${target} has no list: no path that ends with /paginated.`);
  if (name) {
    const resource = named(all, name);
    return { resource, total: fewestRecords(resource, totalOf(resource, session) ?? unreadable(resource, session)) };
  }
  const fit = all.some(isFit) ? all.filter(isFit) : all;
  const open = fit.filter(({ routes }) => !routes.search?.guarded);
  const readable = open.length > 0 || !session ? open : fit;
  if (readable.length === 0) return unreadable(fit[0] as Resource, session);
  const [most] = byRecords(readable, session) as [Counted];
  return { ...most, total: fewestRecords(most.resource, most.total) };
}

/** Lists, the one with the most records first. */
function byRecords(lists: readonly Resource[], session: Session | undefined): Counted[] {
  const counts = lists.map((resource) => ({ resource, total: totalOf(resource, session) ?? 0 }));
  return counts.sort((one, other) => other.total - one.total);
}

function named(all: readonly Resource[], name: string): Resource {
  try {
    return resourceNamed(all, name);
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function unreadable({ path }: Resource, session: Session | undefined): never {
  return refuse(
    session
      ? `${path}/paginated did not answer 200 with these credentials.`
      : `${path}/paginated takes credentials: give LOAD_EMAIL and LOAD_PASSWORD, or TOKEN.`,
  );
}

function fewestRecords({ path }: Resource, total: number): number {
  if (total > 0) return total;
  return refuse(
    `${path} has no records, and a list of none shows nothing: \`npm run db:seed\` stores those of prisma/seed.ts, which has to make some for this list.`,
  );
}

function totalOf(resource: Resource, session: Session | undefined): number | undefined {
  const answer = askList({ resource, session }, { pageSize: 1 }, [200, 401, 403]);
  return answer?.status === 200 ? (bodyOf<Page>(answer).total ?? undefined) : undefined;
}

/** Records of five places of the list, with their related records. */
function sampleRows(seen: Seen): Row[] {
  const pageSize = Math.min(100, seen.resource.pageSize.maximum);
  const pages = Math.ceil(seen.total / pageSize);
  const places = new Set([0, 1, 2, 3, 4].map((part) => 1 + Math.floor((part * pages) / 5)));
  const include = Object.fromEntries(
    seen.resource.relations.filter(({ many }) => !many).map(({ name }) => [name, true]),
  );
  return [...places].flatMap((page) => {
    const answer = askList(seen, { page, pageSize, ...(Object.keys(include).length > 0 && { include }) });
    return answer ? [...bodyOf<Page>(answer).data] : [];
  });
}

function askList(
  { resource, session }: Pick<Seen, 'resource' | 'session'>,
  query: Query,
  expected = [200],
): Answer | undefined {
  const path = resource.routes.search?.path ?? '';
  return ask(path, { name: 'setup', query, expected, token: tokenOf(session) });
}

/** Filters with the number of records that pass, without those that find nothing. */
function counted(seen: Seen, filters: readonly Omit<Question, 'total'>[]): Question[] {
  return filters.flatMap((filter) => {
    const answer = askList(seen, { pageSize: 1, where: whereOf(filter.conditions) });
    const total = answer ? (bodyOf<Page>(answer).total ?? 0) : 0;
    return total > 0 ? [{ ...filter, total }] : [];
  });
}

function foundWords(seen: Seen, samples: readonly Row[]) {
  const words = searchWords(seen.resource, samples).slice(0, 20);
  return words.flatMap((word) => {
    const answer = askList(seen, { pageSize: 1, q: word });
    const total = answer ? (bodyOf<Page>(answer).total ?? 0) : 0;
    return total > 0 ? [{ word, total }] : [];
  });
}

/** Includes everything on the largest page; where that costs more than the service allows, on ever smaller ones. */
function largestInclude(seen: Seen): Pick<World, 'include'> {
  const { relations, pageSize } = seen.resource;
  for (let share = 1; share >= 1 / 64 && relations.length > 0; share /= 2) {
    const query = Object.fromEntries(
      relations.map(({ name, many, take }) => [name, many ? { take: Math.max(1, Math.floor(take * share)) } : true]),
    );
    const size = Math.max(1, Math.floor(pageSize.maximum * share));
    const answer = askList(seen, { pageSize: size, include: query }, [200, 400]);
    if (answer?.status === 200) return { include: { query, pageSize: size } };
  }
  return {};
}
