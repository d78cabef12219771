import { isJson, type Json } from './deep-merge.ts';

/** What OpenAPI 3.0 allows in a schema object; other keywords of JSON Schema and of `.meta()` make a document invalid. */
const keywords = new Set([
  ...['title', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength'],
  ...['pattern', 'maxItems', 'minItems', 'uniqueItems', 'maxProperties', 'minProperties', 'required', 'enum', 'type'],
  ...['not', 'allOf', 'oneOf', 'anyOf', 'items', 'properties', 'additionalProperties', 'description', 'format'],
  ...['default', 'nullable', 'discriminator', 'readOnly', 'writeOnly', 'example', 'externalDocs', 'deprecated', 'xml'],
]);

/**
 * Makes an OpenAPI 3.0 schema object of the JSON Schema that zod gives for `target: 'openapi-3.0'`: leaves only what
 * 3.0 knows, takes the first of `examples` as `example`, and writes null the way 3.0 does.
 */
export function toSchemaObject(schema: unknown): Json {
  if (!isJson(schema)) return schema === false ? { not: {} } : {};
  if (typeof schema['$ref'] === 'string')
    return { $ref: schema['$ref'].replace(/__shared#\/definitions\/(\w+)$/, (_, name) => sharedName(name)) };
  const result: Json = {};
  for (const [key, value] of Object.entries(schema)) {
    if (keywords.has(key) || key.startsWith('x-')) result[key] = convert(key, value);
  }
  if (Array.isArray(schema['examples']) && result['example'] === undefined) result['example'] = schema['examples'][0];
  return withNull(result);
}

/** The component's name of a schema that zod shares between others, `schema0`. */
export function sharedName(name: string): string {
  return name.replace(/^schema/, 'Shared');
}

function convert(key: string, value: unknown): unknown {
  if (key === 'properties' && isJson(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, property]) => [name, toSchemaObject(property)]));
  }
  if (key === 'additionalProperties') return isJson(value) ? toSchemaObject(value) : value;
  if (key === 'items' || key === 'not') return toSchemaObject(value);
  if (Array.isArray(value) && /^(all|any|one)Of$/.test(key)) return value.map(toSchemaObject);
  return value;
}

/** 3.0 has no type null, and an enum that allows null has to name it (OpenAPI 3.0.3, proposal "clarify nullable"). */
function withNull(schema: Json): Json {
  const values = schema['enum'];
  if (schema['type'] === 'null') return { ...schema, type: 'string', nullable: true, enum: [null] };
  if (schema['nullable'] && Array.isArray(values) && !values.includes(null))
    return { ...schema, enum: [...values, null] };
  return schema;
}
