import { readFileSync } from 'node:fs';
import process from 'node:process';
import { missingFor, takesCredentials } from '../contract/missing.ts';
import type { ApiDocument } from '../contract/openapi.ts';
import { findResources, type Resource, resourceNamed } from '../contract/resource.ts';
import { uploadsOf } from '../contract/uploads.ts';
import { catalogue, type ScenarioName } from '../lib/catalogue.ts';

/** One run of k6: a scenario of a list. */
export interface PlannedRun {
  readonly scenario: ScenarioName;
  /** Path of the list; none leaves it to k6: the one with the most records that has what the scenario is of. */
  readonly resource: string | undefined;
}

/** What is run and, in words, what is left out because the service has nothing for it. */
export interface Plan {
  readonly runs: readonly PlannedRun[];
  readonly skipped: readonly string[];
}

/**
 * What there is to run on a target. A scenario that was named by itself is always run: it says what is missing.
 *
 * @param resources names or paths, or `all`; none takes the open list with the most records, or another that has what a scenario is of
 * @throws Error when nothing answers, there is no document, or no such list
 */
export async function planRuns(
  target: string,
  { scenarios, resources }: { scenarios: readonly ScenarioName[]; resources: readonly string[] },
  hasCredentials: boolean,
): Promise<Plan> {
  const document = await readDocument(target);
  const known = findResources(document);
  const uploads = uploadsOf(document);
  const wanted: (Resource | undefined)[] = resources.includes('all')
    ? known
    : resources.map((name) => resourceNamed(known, name));
  const main = wanted.length === 1 ? wanted[0] : undefined;
  const pairs = scenarios.flatMap((scenario) =>
    catalogue[scenario].perList && wanted.length > 0
      ? wanted.map((resource) => ({ scenario, resource }))
      : [{ scenario, resource: main }],
  );
  if (scenarios.length === 1 && wanted.length <= 1) {
    return { runs: pairs.map(({ scenario, resource }) => ({ scenario, resource: resource?.path })), skipped: [] };
  }
  const totals = await totalsOf(target, known);
  const [largest] = [...totals].toSorted(([, one], [, other]) => (other ?? 0) - (one ?? 0)).map(([list]) => list);
  const hindranceOf = (scenario: ScenarioName, resource: Resource) => {
    const missing = missingFor(scenario, resource, uploads);
    if (missing) return `has no ${missing}`;
    const isClosed = !hasCredentials && takesCredentials(scenario, resource, uploads);
    return isClosed ? 'takes LOAD_EMAIL and LOAD_PASSWORD, or TOKEN' : undefined;
  };
  // One that was named is run, and fails.
  const empty = resources.includes('all') ? known.filter((list) => totals.get(list) === 0) : [];
  const runs: PlannedRun[] = [];
  const skipped = empty.map(({ path }) => `${path} has no records`);
  for (const { scenario, resource } of pairs) {
    if (resource && empty.includes(resource)) continue;
    const wished = resource ?? largest;
    const hindrance = wished && hindranceOf(scenario, wished);
    // A day is of all lists, unless one is named.
    if (!wished || !hindrance) runs.push({ scenario, resource: scenario === 'day' ? resource?.path : wished?.path });
    // Where no list was named, another one may have what the largest lacks; k6 knows which of them has the most records.
    else if (!resource && known.some((other) => !hindranceOf(scenario, other))) runs.push({ scenario, resource });
    else skipped.push(`${scenario}: ${wished.path} ${hindrance}`);
  }
  return { runs, skipped };
}

async function readDocument(target: string): Promise<ApiDocument> {
  const file = process.env.OPENAPI_FILE;
  if (file) return JSON.parse(readFileSync(file, 'utf8')) as ApiDocument;
  const url = `${target}/api-docs.json`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch((cause: unknown) => {
    throw new Error(`Nothing answers at ${target}. Start the service, or leave --target out to have one started.`, {
      cause,
    });
  });
  if (answer.ok) return (await answer.json()) as ApiDocument;
  throw new Error(
    `${url} answered ${answer.status}, expected 200. Paths and fields come from this document: set ENABLE_OPENAPI=true, or give it as OPENAPI_FILE.`,
  );
}

/** How many records each open list has; of one that does not tell, `undefined`. */
async function totalsOf(target: string, known: readonly Resource[]): Promise<Map<Resource, number | undefined>> {
  const open = known.filter(({ routes }) => !routes.search?.guarded);
  const totals = await Promise.all(
    open.map(async (resource) => {
      const answer = await fetch(`${target}${resource.routes.search?.path}?pageSize=1`);
      const { total } = answer.ok ? ((await answer.json()) as { total?: number }) : {};
      return [resource, total] as const;
    }),
  );
  return new Map(totals);
}
