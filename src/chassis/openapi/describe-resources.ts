import { basename } from 'node:path';
import type { Router } from 'express';
import type { z } from 'zod';
import { routersOf } from '../http/pipeline/routes-of.ts';
import type { PolicyRules } from '../query/policy/policy-rules.ts';
import { describeRouter, type ResourceDescription } from '../resource/resource-router.ts';
import type { Json } from './deep-merge.ts';
import type { RouteSource } from './route-source.ts';
import {
  type NamedSchema,
  type SchemaComponents,
  type SchemaIds,
  schemaComponents,
  schemaReference,
} from './schema-components.ts';

/** A resource that a route file mounts, and the component names of its schemas. */
export interface DescribedResource {
  router: Router;
  /** The resource's path below the module's prefix, with that of the router that it is mounted in. */
  path: string;
  rules: PolicyRules;
  record: string;
  create: string;
  update: string;
  /** What a read answers with: the record and the relations that it may include. */
  result: string;
  /** Schema of the record's id. */
  id: Json | undefined;
  /** Whether records have versions, and a change has to name one. */
  versions: 'none' | 'optional' | 'required';
  /** How many records one request creates at most; undefined where there is no route for several. */
  bulk: number | undefined;
}

interface FoundResource {
  source: RouteSource;
  router: Router;
  path: string;
  description: ResourceDescription;
}

/** The resources of all route files. */
interface DescribedResources {
  schemas: SchemaComponents;
  bySource: Map<RouteSource, DescribedResource[]>;
  /** Component schemas of what a read answers with, where that is more than the record. */
  results: Record<string, Json>;
}

/**
 * Finds the resources among the mounted route files and names their schemas: by `.meta({ id })`, else after the model
 * of the list policy (`Product`, `CreateProduct`, `UpdateProduct`).
 *
 * @throws Error when two different schemas share one name
 */
export function describeResources(sources: readonly RouteSource[], ids?: SchemaIds): DescribedResources {
  const found = sources.flatMap(findResources);
  const named = found.flatMap(({ source, description }) => namedSchemas(source, description));
  const schemas = schemaComponents(named, ids);
  const bySource = new Map<RouteSource, DescribedResource[]>();
  for (const resource of found) {
    const others = bySource.get(resource.source) ?? [];
    bySource.set(resource.source, [...others, describeResource(resource, schemas)]);
  }
  const resources = [...bySource.values()].flat();
  const results = Object.fromEntries(
    resources
      .filter(({ rules }) => rules.includes.size > 0)
      .map((resource) => [resource.result, resultSchema(resource, resources, schemas)]),
  );
  return { schemas, bySource, results };
}

/** The resource routers of a route file: its default export, and those mounted inside it. */
function findResources(source: RouteSource): FoundResource[] {
  return routersOf(source.router, '').flatMap(({ router, path }) => {
    const description = describeRouter(router);
    return description ? [{ source, router, path: path.replace(/\/$/, '') + description.path, description }] : [];
  });
}

function namedSchemas({ module, file }: RouteSource, { schemas }: ResourceDescription): NamedSchema[] {
  const usedBy = `${module}/${basename(file)}`;
  const { model } = schemas.list;
  return [
    { id: model, schema: schemas.record, usedBy },
    ...(schemas.create ? [{ id: `Create${model}`, schema: schemas.create, usedBy }] : []),
    ...(schemas.update ? [{ id: `Update${model}`, schema: schemas.update, usedBy }] : []),
  ];
}

function describeResource(
  { router, path, description: { schemas, versioned, access } }: FoundResource,
  { idOf, output }: SchemaComponents,
): DescribedResource {
  const { rules } = schemas.list;
  const name = (schema: z.ZodType | undefined): string => (schema && idOf(schema)) ?? rules.model;
  const record = name(schemas.record);
  const properties = output[record]?.['properties'] as Record<string, Json> | undefined;
  return {
    ...{ router, path, rules, record, create: name(schemas.create), update: name(schemas.update) },
    result: rules.includes.size > 0 ? `${record}WithIncludes` : record,
    id: properties?.['id'],
    bulk: access.bulk,
    versions: versioned ? (access.requireVersion ? 'required' : 'optional') : 'none',
  };
}

/** A record with the relations that `include` may name; with `select` they may have fewer fields. */
function resultSchema(
  resource: DescribedResource,
  resources: readonly DescribedResource[],
  schemas: SchemaComponents,
): Json {
  const relations = [...resource.rules.includes.values()].map(({ name, many, target }) => {
    const related = resources.find(({ rules }) => rules === target)?.record ?? target.model;
    const known = related in schemas.output ? [schemaReference(related)] : [];
    const record = { anyOf: [...known, { type: 'object', ...(!many && { nullable: true }) }] };
    const description = `${related}, where included; with \`select\` only the fields that it names`;
    return [name, many ? { type: 'array', description, items: record } : { description, ...record }];
  });
  return {
    allOf: [schemaReference(resource.record), { type: 'object', properties: Object.fromEntries(relations) }],
  };
}
