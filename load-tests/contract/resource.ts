import { type FieldKind, kindOf } from './fields.ts';
import {
  type ApiDocument,
  alternativesOf,
  bodySchema,
  dataSchema,
  isGuarded,
  type Operation,
  propertiesOf,
  resolve,
  type Schema,
} from './openapi.ts';

/** A route of a resource. */
export interface Route {
  readonly path: string;
  /** Whether it takes credentials. */
  readonly guarded: boolean;
}

/** A relation that a list may include. */
export interface Relation {
  readonly name: string;
  readonly many: boolean;
  /** The largest `take`, of a relation to many. */
  readonly take: number;
  readonly fields: Readonly<Record<string, FieldKind>>;
  /** The operators of the fields that may be filtered through the relation; of a relation to one only. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
}

type RouteName = 'find' | 'search' | 'get' | 'create' | 'update' | 'delete' | 'export';

/** A list of records and what its service's own document says of it. JSON, so that k6 can hand it to its users. */
export interface Resource {
  /** The last part of its path, e.g. `products`. */
  readonly name: string;
  /** e.g. `/api/v1/products`. */
  readonly path: string;
  readonly routes: Readonly<Partial<Record<RouteName, Route>>>;
  readonly pageSize: { readonly default: number; readonly maximum: number };
  /** The kinds of the fields of a record. */
  readonly fields: Readonly<Record<string, FieldKind>>;
  /** Fields to sort by, with the kinds of their values; `category.name` is of a related record. */
  readonly sorts: Readonly<Record<string, FieldKind>>;
  /** The operators of each field that may be filtered. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
  readonly relations: readonly Relation[];
  /** Whether the paginated list has a search box: the parameter `q`. */
  readonly searchBox: boolean;
  /** What can be done with a record beside, by `POST …/{id}/<action>`, such as `place`. */
  readonly actions: readonly string[];
  /** The schema of the body of a create, resolved. */
  readonly create?: Schema;
  /** The schema of the body of an update, resolved. */
  readonly update?: Schema;
}

const paginated = '/paginated';

/** Every resource of a document: each path with a paginated list, in the order of the document. */
export function findResources(document: ApiDocument): Resource[] {
  return Object.keys(document.paths)
    .filter((path) => path.endsWith(paginated) && document.paths[path]?.['get'] && !path.includes('{'))
    .map((path) => readResource(document, path.slice(0, -paginated.length)));
}

/**
 * The resource that a name or a path means.
 *
 * @throws Error when there is none, or a name means several
 */
export function resourceNamed(resources: readonly Resource[], name: string): Resource {
  const found = resources.filter((resource) => resource.path === name || resource.name === name);
  if (found.length === 1 && found[0]) return found[0];
  const known = resources.map(({ path }) => path).join(', ') || 'none';
  if (found.length === 0) {
    throw new Error(`Expected RESOURCE to be a list of the service, by name or path: ${known}; got "${name}".`);
  }
  throw new Error(`RESOURCE "${name}" means several lists; give a path: ${found.map(({ path }) => path).join(', ')}.`);
}

function readResource(document: ApiDocument, path: string): Resource {
  const search = document.paths[path + paginated]?.['get'] ?? {};
  const record = dataSchema(document, search)?.items;
  const fields = kindsOf(document, record);
  const relations = relationsOf(document, search, record);
  const size = parameterOf(search, 'pageSize') ?? {};
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    routes: routesOf(document, path),
    pageSize: { default: Number(size.default ?? 10), maximum: size.maximum ?? 100 },
    fields,
    sorts: sortsOf(document, search, fields, relations),
    filters: filtersOf(document, parameterOf(search, 'where')),
    relations,
    searchBox: parameterOf(search, 'q') !== undefined,
    actions: actionsOf(document, path),
    ...bodiesOf(document, path),
  };
}

function bodiesOf(document: ApiDocument, path: string): { create?: Schema; update?: Schema } {
  const create = bodySchema(document, document.paths[path]?.['post']);
  const update = bodySchema(document, document.paths[itemPath(document, path) ?? '']?.['put']);
  return { ...(create && { create: flat(document, create) }), ...(update && { update: flat(document, update) }) };
}

/** A schema without references in its properties, so that it can be read without the document. */
function flat(document: ApiDocument, schema: Schema): Schema {
  const properties = Object.entries(propertiesOf(document, schema)).map(([name, property]) => [
    name,
    alternativesOf(document, property).find(({ type }) => type !== undefined) ?? {},
  ]);
  return { properties: Object.fromEntries(properties), required: schema.required ?? [] };
}

/** `/products/{id}`, whatever the parameter is called. */
function itemPath(document: ApiDocument, path: string): string | undefined {
  return Object.keys(document.paths).find(
    (other) => /^\/\{\w+\}$/.test(other.slice(path.length)) && other.startsWith(path),
  );
}

function actionsOf(document: ApiDocument, path: string): string[] {
  const item = `${itemPath(document, path)}/`;
  const others = Object.keys(document.paths).filter(
    (other) => other.startsWith(item) && document.paths[other]?.['post'],
  );
  return others.map((other) => other.slice(item.length));
}

function routesOf(document: ApiDocument, path: string): Resource['routes'] {
  const item = itemPath(document, path) ?? '';
  const lists = Object.keys(document.paths).filter((other) => other.startsWith(`${path}/`));
  const asked: Record<RouteName, [path: string | undefined, method: string]> = {
    find: [path, 'get'],
    search: [path + paginated, 'get'],
    get: [item, 'get'],
    create: [path, 'post'],
    update: [item, 'put'],
    delete: [item, 'delete'],
    export: [lists.find((other) => isExport(document.paths[other]?.['get']) && !other.includes('{')), 'get'],
  };
  return Object.fromEntries(
    Object.entries(asked).flatMap(([name, [route = '', method]]) => {
      const operation = document.paths[route]?.[method];
      return operation ? [[name, { path: route, guarded: isGuarded(document, operation) }]] : [];
    }),
  );
}

/** A stream of rows: its answer is CSV or one JSON value a line. */
function isExport(operation: Operation | undefined): boolean {
  const types = Object.keys(operation?.responses?.['200']?.content ?? {});
  return types.some((type) => /^(text\/csv|application\/(x-)?ndjson)/.test(type));
}

function kindsOf(document: ApiDocument, schema: Schema | undefined): Record<string, FieldKind> {
  const kinds = Object.entries(propertiesOf(document, schema)).map(([name, property]) => [
    name,
    alternativesOf(document, property)
      .map(kindOf)
      .find((kind) => kind !== 'other') ?? 'other',
  ]);
  return Object.fromEntries(kinds);
}

function parameterOf(operation: Operation, name: string): Schema | undefined {
  const parameter = operation.parameters?.find((one) => one.in === 'query' && one.name === name);
  return parameter && (parameter.schema ?? parameter.content?.['application/json']?.schema ?? {});
}

function sortsOf(
  document: ApiDocument,
  search: Operation,
  fields: Readonly<Record<string, FieldKind>>,
  relations: readonly Relation[],
): Record<string, FieldKind> {
  const kinds = Object.keys(propertiesOf(document, parameterOf(search, 'orderBy'))).map((key) => {
    const [name = '', field = ''] = key.split('.');
    const related = relations.find((relation) => relation.name === name)?.fields[field];
    return [key, key.includes('.') ? (related ?? 'other') : (fields[key] ?? 'other')];
  });
  return Object.fromEntries(kinds);
}

/** The operators that a filter takes for each field; those of relations and the logical ones are left out. */
function filtersOf(document: ApiDocument, schema: Schema | undefined): Record<string, string[]> {
  const fields = Object.entries(propertiesOf(document, schema)).flatMap(([name, property]) => {
    if (['AND', 'OR', 'NOT'].includes(name)) return [];
    const compared = alternativesOf(document, property).map((part) => part.properties ?? {});
    const words = compared.flatMap(Object.keys).filter((word) => operatorWords.includes(word));
    return words.length > 0 ? [[name, words] as const] : [];
  });
  return Object.fromEntries(fields);
}

const operatorWords = ['equals', 'in', 'gte', 'lte', 'contains'];

function relationsOf(document: ApiDocument, search: Operation, record: Schema | undefined): Relation[] {
  const properties = propertiesOf(document, record);
  const filters = propertiesOf(document, parameterOf(search, 'where'));
  return Object.entries(propertiesOf(document, parameterOf(search, 'include'))).map(([name, schema]) => {
    const options = propertiesOf(
      document,
      alternativesOf(document, schema).find((part) => part.properties),
    );
    const take = options['take'];
    const found = alternativesOf(document, properties[name]);
    const related =
      found.map(({ items }) => items).find(Boolean) ?? found.find((part) => part.properties ?? part.allOf);
    return {
      name,
      many: take !== undefined,
      take: resolve(document, take).maximum ?? 0,
      fields: kindsOf(document, related),
      filters: take ? {} : filtersOf(document, alternativesOf(document, filters[name])[0]),
    };
  });
}
