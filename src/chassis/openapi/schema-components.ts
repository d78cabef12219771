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

/** Which schemas have an id beside those that routes declare; comments refer to them by it. */
export interface SchemaIds {
  /** By id. Default: those of zod's global registry, which are the schemas of all modules that are imported. */
  readonly known?: ReadonlyMap<string, unknown>;
  /** Whether they may be of several services, so that what one declares counts and not what has the same id elsewhere. Default false. */
  readonly ofSeveralServices?: boolean;
}

/** The component schemas as a client sends them and as it receives them. */
export interface SchemaComponents {
  input: Record<string, Json>;
  output: Record<string, Json>;
  /** The component's name of a schema; undefined when it has none. */
  idOf(schema: z.ZodType): string | undefined;
}

/**
 * Makes component schemas of every zod schema that has an id: those named here, and those known.
 *
 * @throws Error when two different schemas share one id
 */
export function schemaComponents(
  named: readonly NamedSchema[],
  { known = z.globalRegistry._idmap, ofSeveralServices = false }: SchemaIds = {},
): SchemaComponents {
  const registry = z.registry<{ id: string }>();
  const users = new Map<string, string>();
  for (const { id, schema, usedBy } of named) {
    const own = z.globalRegistry.get(schema)?.id ?? id;
    const registered = registry._idmap.get(own);
    if (registered !== undefined && registered !== schema) throw sharedId(own, usedBy);
    registry.add(schema, { id: own });
    users.set(own, usedBy);
  }
  for (const [id, schema] of known) {
    const registered = registry._idmap.get(id);
    if (registered === undefined) registry.add(schema as z.ZodType, { id });
    else if (registered !== schema && !ofSeveralServices) throw sharedId(id, users.get(id) as string);
  }
  const metadata = ofSeveralServices ? new OwnIds(registry) : z.globalRegistry;
  return {
    input: convert(registry, 'input', metadata),
    output: convert(registry, 'output', metadata),
    idOf: (schema) => registry.get(schema)?.id,
  };
}

/** What is said of schemas everywhere, with the ids of these only: another service may have given the same ones. */
class OwnIds extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  readonly #ids: z.core.$ZodRegistry<{ id: string }>;

  constructor(ids: z.core.$ZodRegistry<{ id: string }>) {
    super();
    this.#ids = ids;
  }

  override get<S extends z.core.$ZodType>(schema: S): z.core.$replace<z.core.GlobalMeta, S> | undefined {
    const { id: _id, ...said } = z.globalRegistry.get(schema) ?? {};
    return { ...said, ...this.#ids.get(schema) } as z.core.$replace<z.core.GlobalMeta, S>;
  }
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

function convert(
  registry: z.core.$ZodRegistry<{ id: string }>,
  io: 'input' | 'output',
  metadata: z.core.$ZodRegistry<z.core.GlobalMeta>,
): Record<string, Json> {
  try {
    const { schemas } = z.toJSONSchema(registry, {
      metadata,
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
      `search the modules for id: '${id}' and rename one of the two.`,
    { cause },
  );
}
