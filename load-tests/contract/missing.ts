import { relatedOrder } from './conditions.ts';
import type { Resource } from './resource.ts';
import type { Upload } from './uploads.ts';

/** What a scenario asks of a service. */
interface Need {
  readonly what: string;
  readonly has: (resource: Resource, uploads: readonly Upload[]) => boolean;
}

const filtered = (resource: Resource, ...words: string[]) =>
  Object.values(resource.filters).some((allowed) => words.some((word) => allowed.includes(word)));

const needs: Readonly<Record<string, Need>> = {
  'list-filtered-wide': {
    what: 'field to filter by a range or a part of a text',
    has: (resource) => filtered(resource, 'gte', 'contains'),
  },
  'list-filtered-narrow': {
    what: 'field to filter by its value',
    has: (resource) => filtered(resource, 'in', 'equals'),
  },
  'list-sorted-by-relation': { what: 'order by a related record', has: (resource) => !!relatedOrder(resource) },
  'list-include': { what: 'relation to include', has: ({ relations }) => relations.length > 0 },
  'list-search': { what: 'search box (q)', has: ({ searchBox }) => searchBox },
  'find-list': { what: 'list without pages', has: ({ routes }) => !!routes.find },
  'read-one': { what: 'route for one record', has: ({ routes }) => !!routes.get },
  'write-mix': {
    what: 'routes to create, read, change and delete a record',
    has: ({ routes, create }) => !!(routes.create && routes.get && routes.update && routes.delete && create),
  },
  'place-order': {
    what: 'orders to place and pay',
    has: ({ path, actions, create }) =>
      path.endsWith('/orders') &&
      ['place', 'pay'].every((one) => actions.includes(one)) &&
      !!create?.properties?.['lines'],
  },
  upload: { what: 'route that takes a file', has: (_resource, uploads) => uploads.length > 0 },
  export: { what: 'route that streams CSV or NDJSON', has: ({ routes }) => !!routes.export },
};

/** What a scenario needs and the document does not name, in words; undefined where nothing is missing. */
export function missingFor(scenario: string, resource: Resource, uploads: readonly Upload[]): string | undefined {
  const need = needs[scenario];
  return need && !need.has(resource, uploads) ? need.what : undefined;
}

/** Whether a scenario takes credentials of a list. */
export function takesCredentials(scenario: string, { routes }: Resource, uploads: readonly Upload[]): boolean {
  if (scenario === 'upload') return uploads[0]?.guarded ?? false;
  if (scenario === 'write-mix') return [routes.create, routes.update, routes.delete].some((route) => route?.guarded);
  if (scenario === 'export') return routes.export?.guarded ?? false;
  return routes.search?.guarded ?? false;
}
