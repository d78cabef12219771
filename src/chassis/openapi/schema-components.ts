import { z } from 'zod';
import type { Json } from './deep-merge.ts';
import { sharedName, toSchemaObject } from './schema-object.ts';

const componentPrefix = '#/components/schemas/';

/** A zod schema that goes into the components although it is not registered by `.meta({ id })`. */
export interface NamedSchema {
  id: string;
  schema: z.ZodType;
  /** Who uses it, for the error message, e.g. a route file. */
  usedBy: string;
}

/** The component schemas as a client sends them and as it receives them. */
export interface SchemaComponents {
  input: Record<string, Json>;
  output: Record<string, Json>;
  /** The component's name of a schema; undefined when it has none. */
  idOf(schema: z.ZodType): string | undefined;
}

/**
 * Makes component schemas of every zod schema that has an id: those of zod's global registry, which are the schemas of
 * the modules that are imported, and those named here.
 *
 * @throws Error when two different schemas share one id
 */
export function schemaComponents(named: readonly NamedSchema[]): SchemaComponents {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of z.globalRegistry._idmap) registry.add(schema as z.ZodType, { id });
  for (const { id, schema, usedBy } of named) {
    const own = z.globalRegistry.get(schema)?.id ?? id;
    const registered = registry._idmap.get(own);
    if (registered !== undefined && registered !== schema) throw sharedId(own, usedBy);
    registry.add(schema, { id: own });
  }
  return {
    input: convert(registry, 'input'),
    output: convert(registry, 'output'),
    idOf: (schema) => registry.get(schema)?.id,
  };
}

/** A reference to a component schema. */
export function schemaReference(id: string): { $ref: string } {
  return { $ref: componentPrefix + id };
}

/** The component that a reference leads to; undefined when it leads elsewhere. */
export function referencedComponent(reference: unknown): string | undefined {
  return typeof reference === 'string' && reference.startsWith(componentPrefix)
    ? reference.slice(componentPrefix.length)
    : undefined;
}

function convert(registry: z.core.$ZodRegistry<{ id: string }>, io: 'input' | 'output'): Record<string, Json> {
  try {
    const { schemas } = z.toJSONSchema(registry, {
      target: 'openapi-3.0',
      io,
      uri: (id) => componentPrefix + id,
      unrepresentable: 'any',
      override: (context) => describeForWire(context, io),
    });
    const { __shared: shared, ...own } = schemas;
    // Those that lead to themselves, such as any JSON, have no id of their own.
    const definitions = Object.entries((shared?.['definitions'] ?? {}) as Json);
    const all = [...Object.entries(own), ...definitions.map(([name, schema]) => [sharedName(name), schema] as const)];
    return Object.fromEntries(all.map(([id, schema]) => [id, toSchemaObject(schema)]));
  } catch (error) {
    const id = error instanceof Error ? /Duplicate schema id "(.+?)"/.exec(error.message)?.[1] : undefined;
    throw id === undefined ? error : sharedId(id, 'another schema', error);
  }
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

/**
 * Says what JSON carries: a date is a string in both directions. Request bodies with unknown keys are refused, so an
 * object is closed as input; as output it is open, so that a client is ready for fields to come.
 */
function describeForWire({ zodSchema, jsonSchema }: Parameters<Override>[0], io: 'input' | 'output'): void {
  const { def } = zodSchema._zod;
  if (def.type === 'bigint') Object.assign(jsonSchema, { type: 'string', format: 'int64', pattern: '^-?\\d{1,19}$' });
  if (def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
  if (def.type !== 'object' || def.catchall?._zod.def.type === 'unknown') return;
  if (io === 'input' && jsonSchema.properties) jsonSchema.additionalProperties ??= false;
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

function sharedId(id: string, where: string, cause?: unknown): Error {
  return new Error(
    `Expected one zod schema with .meta({ id: '${id}' }), found a second one used by ${where}; ` +
      `search the modules of every service in this process for id: '${id}' and rename one of the two.`,
    { cause },
  );
}
