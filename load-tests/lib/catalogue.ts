/** What a scenario is, beside its journey. Read by k6, by the command and by the tests, so it imports nothing. */
export interface ScenarioEntry {
  /** What the journey is, as the help tells it. */
  readonly says: string;
  /** Iterations beside those of the other scenarios under one profile: heavy journeys take fewer. */
  readonly weight: number;
  /** Whether it is of one list, so that `--resource all` runs it for each. */
  readonly perList: boolean;
  /** What its users know beside the list; what nobody reads is not asked for. */
  readonly reads: readonly Part[];
  /** Whether it writes, so that totals change while it runs. Default false. */
  readonly writes?: boolean;
}

/** A part of what users know: filters that most records pass, or few, words to search for, the largest include. */
export type Part = 'wide' | 'narrow' | 'words' | 'include';

/** Every scenario, by the name of its file. */
export const catalogue = {
  'list-shallow': { says: 'two neighbouring pages among the first ten', weight: 1, perList: true, reads: [] },
  'list-deep-page': {
    says: 'two neighbouring pages of the last tenth, by number',
    weight: 1,
    perList: true,
    reads: [],
  },
  'list-deep-cursor': { says: 'a walk through the whole list by cursor', weight: 1, perList: true, reads: [] },
  'list-filtered-wide': {
    says: 'two pages of a filter that most records pass, sorted',
    weight: 1,
    perList: true,
    reads: ['wide'],
  },
  'list-filtered-narrow': { says: 'a filter that few records pass', weight: 1, perList: true, reads: ['narrow'] },
  'list-sorted-by-relation': {
    says: 'two pages sorted by a field of a related record',
    weight: 0.4,
    perList: true,
    reads: [],
  },
  'list-include': {
    says: 'the largest page with everything that it may include',
    weight: 0.4,
    perList: true,
    reads: ['include'],
  },
  'list-search': { says: 'the search box, `q`', weight: 0.4, perList: true, reads: ['words'] },
  'find-list': { says: 'the list without pages, whole and filtered', weight: 0.4, perList: true, reads: ['narrow'] },
  'read-one': { says: 'one record by its id', weight: 1, perList: true, reads: [] },
  'write-mix': {
    says: 'a login; a record created, read, changed, found and deleted',
    weight: 0.4,
    perList: false,
    reads: [],
    writes: true,
  },
  'place-order': {
    says: 'an order drafted, changed, placed once, paid once, found and exported',
    weight: 0.2,
    perList: false,
    reads: [],
    writes: true,
  },
  'error-mix': { says: 'requests that are wrong, each refused as documented', weight: 1, perList: false, reads: [] },
  upload: { says: 'a picture uploaded and fetched', weight: 0.4, perList: false, reads: [] },
  export: { says: 'all records as one stream', weight: 0.2, perList: true, reads: [] },
  day: {
    says: 'all of these, of all lists, mixed as from the night to the evening',
    weight: 1,
    perList: false,
    reads: ['wide', 'narrow', 'words', 'include'],
    writes: true,
  },
} as const satisfies Record<string, ScenarioEntry>;

/** Name of a scenario. */
export type ScenarioName = keyof typeof catalogue;

/** The names of all scenarios. */
export const scenarioNames = Object.keys(catalogue) as ScenarioName[];

/** What was found of each part in the records of a list. */
type Found = Readonly<Record<Exclude<Part, 'include'>, readonly unknown[]>> & { readonly include?: object };

/** Whether the records of a list have what a scenario asks for. */
export function isFound(found: Found, part: Part): boolean {
  return part === 'include' ? found.include !== undefined : found[part].length > 0;
}
