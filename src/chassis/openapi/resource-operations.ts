import type { Json } from './deep-merge.ts';
import type { DescribedResource } from './describe-resources.ts';
import { jsonContent, jsonResponse, successBody } from './json-content.ts';
import { findParameters, includeParameter, searchParameters } from './list-parameters.ts';
import type { QueryComponents } from './query-components.ts';
import { schemaReference } from './schema-components.ts';

type Describe = (resource: DescribedResource, components: QueryComponents) => Json;

/** What `resourceRouter` mounts: the method, and the path below the resource's own. */
const standardRoutes: Record<string, Describe> = {
  'GET ': list,
  'GET /paginated': paginated,
  'GET /:id': get,
  'POST ': create,
  'POST /bulk': createBulk,
  'PUT /:id': update,
  'PATCH /:id': patch,
  'DELETE /:id': remove,
};

/**
 * The OpenAPI operation of one of the six standard routes (spec.md: Route layout of a module).
 *
 * @param path as the router declares it, e.g. `/products/:id`
 * @returns undefined for any other route of the router
 */
export function resourceOperation(
  resource: DescribedResource,
  { method, path }: { method: string; path: string },
  components: QueryComponents,
): Json | undefined {
  if (!path.startsWith(resource.path)) return undefined;
  return standardRoutes[`${method} ${path.slice(resource.path.length)}`]?.(resource, components);
}

function list(resource: DescribedResource, components: QueryComponents): Json {
  const limit = resource.rules.limits.findLimit;
  const records = { type: 'array', maxItems: limit, items: schemaReference(resource.result) };
  return {
    operationId: `list${plural(resource)}`,
    summary: `List ${words(resource)}`,
    description: `All records that match, at most ${limit}. For more of them, page through \`${resource.path}/paginated\`.`,
    parameters: findParameters(resource.rules, components),
    responses: {
      200: jsonResponse('The records that match', successBody(records), {
        'X-Result-Limit': 'The largest number of records that this list answers with',
      }),
    },
  };
}

function paginated(resource: DescribedResource, components: QueryComponents): Json {
  const page = {
    page: { type: 'integer', minimum: 1 },
    pageSize: { type: 'integer', minimum: 1 },
    total: {
      type: 'integer',
      minimum: 0,
      nullable: true,
      description: 'How many records match; null with `count=none`',
    },
  };
  const nextCursor = {
    type: 'string',
    nullable: true,
    description: 'The next `cursor`, null at the end; with `cursor` only',
  };
  const records = { type: 'array', items: schemaReference(resource.result) };
  return {
    operationId: `search${plural(resource)}`,
    summary: `Search ${words(resource)}, page by page`,
    description: 'Every order ends with the primary key, so pages never overlap.',
    parameters: searchParameters(resource.rules, components),
    responses: {
      200: jsonResponse('One page of the records that match', successBody(records, page, { nextCursor }), {
        Link: 'The first, previous, next and last page (RFC 8288)',
      }),
    },
  };
}

function get(resource: DescribedResource, components: QueryComponents): Json {
  return {
    operationId: `get${resource.record}`,
    summary: `Get one ${singular(resource)}`,
    parameters: [...includeParameter(resource.rules, components), ...ifNoneMatch(resource)],
    responses: {
      200: jsonResponse('The record', successBody(schemaReference(resource.result)), tagOf(resource)),
      ...(resource.versions !== 'none' && { 304: { description: 'What the client has is still so' } }),
    },
  };
}

function create(resource: DescribedResource): Json {
  return {
    operationId: `create${resource.record}`,
    summary: `Create one ${singular(resource)}`,
    requestBody: { required: true, ...jsonContent(schemaReference(resource.create)) },
    responses: {
      201: jsonResponse('The new record', successBody(schemaReference(resource.record)), {
        Location: 'Where the new record is found',
        ...tagOf(resource),
      }),
      409: {},
    },
  };
}

function createBulk(resource: DescribedResource): Json {
  const items = { type: 'array', minItems: 1, maxItems: resource.bulk, items: schemaReference(resource.create) };
  const mode = {
    ...{ type: 'string', enum: ['each', 'all'], default: 'each' },
    description: '`each` creates what can be created, `all` everything or nothing',
  };
  const body = { type: 'object', required: ['items'], properties: { items, mode }, additionalProperties: false };
  const record = schemaReference(resource.record);
  const created = successBody(record, { statusCode: { type: 'integer', enum: [201] } });
  const result = { anyOf: [created, schemaReference('ErrorBody')] };
  const some = 'What became of each item, in their order, where some could not be created';
  return {
    operationId: `create${plural(resource)}InBulk`,
    summary: `Create several ${words(resource)}`,
    description:
      'All in one unit of work. With `mode: all` the answer is the records, or the failure of one item, whose number is `details.item`.',
    requestBody: { required: true, ...jsonContent(body) },
    responses: {
      201: jsonResponse(
        'All were created: with `mode: all` the records, else what became of each item',
        successBody({ type: 'array', items: { anyOf: [record, created] } }),
      ),
      207: jsonResponse(some, successBody({ type: 'array', items: result })),
      409: {},
    },
  };
}

function update(resource: DescribedResource): Json {
  return {
    operationId: `update${resource.record}`,
    summary: `Update one ${singular(resource)}`,
    ...ifMatch(resource),
    requestBody: { required: true, ...jsonContent(schemaReference(resource.update)) },
    responses: {
      200: jsonResponse('The changed record', successBody(schemaReference(resource.record)), tagOf(resource)),
      409: {},
      ...versionFailures(resource),
    },
  };
}

function patch(resource: DescribedResource): Json {
  const summary = `Change the given fields of one ${singular(resource)}`;
  return { ...update(resource), operationId: `patch${resource.record}`, summary };
}

function remove(resource: DescribedResource): Json {
  return {
    operationId: `delete${resource.record}`,
    summary: `Delete one ${singular(resource)}`,
    ...ifMatch(resource),
    responses: { 204: { description: 'The record is deleted' }, 409: {}, ...versionFailures(resource) },
  };
}

const entityTag = { type: 'string', example: '"5"' };

function tagOf({ versions }: DescribedResource): Record<string, string> {
  return versions === 'none' ? {} : { ETag: 'The version of the record; not with `include`' };
}

function ifNoneMatch({ versions }: DescribedResource): Json[] {
  const description = 'The ETag of the record that the client has';
  return versions === 'none' ? [] : [{ name: 'If-None-Match', in: 'header', description, schema: entityTag }];
}

function ifMatch({ versions }: DescribedResource): Json {
  if (versions === 'none') return {};
  const description = 'The ETag of the record as the client knows it; another version is not changed';
  const required = versions === 'required';
  return { parameters: [{ name: 'If-Match', in: 'header', required, description, schema: entityTag }] };
}

function versionFailures({ versions }: DescribedResource): Json {
  return { ...(versions !== 'none' && { 412: {} }), ...(versions === 'required' && { 428: {} }) };
}

/** The path in words, without the parameters of the routers around the resource. */
function words({ path }: DescribedResource): string {
  return path
    .split('/')
    .filter((segment) => /^\w/.test(segment))
    .join(' ')
    .replaceAll('-', ' ');
}

/** The name of the record in words: `product`. */
function singular({ record }: DescribedResource): string {
  return record.replace(/\B[A-Z]/g, ' $&').toLowerCase();
}

function plural(resource: DescribedResource): string {
  return words(resource).replace(/(?:^|\s)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
