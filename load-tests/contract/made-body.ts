import { kindOf, type Row } from './fields.ts';
import type { Schema } from './openapi.ts';

/**
 * A body that a create takes, made of its schema: texts are new, so that nothing unique clashes, all else is that of an
 * existing record, so that references lead somewhere. Only what is required is filled in.
 *
 * @param mark a text that no other body has, of letters and digits
 */
export function madeBody(schema: Schema, example: Row, mark: string): Record<string, unknown> {
  const { properties = {}, required = [] } = schema;
  return Object.fromEntries(required.map((name) => [name, fieldValue(properties[name] ?? {}, example[name], mark)]));
}

/** The first text of an update's schema, to be changed; undefined where there is none. */
export function changeableText({ properties = {} }: Schema, row: Row): string | undefined {
  return Object.keys(properties).find((name) => {
    const schema = properties[name] ?? {};
    return kindOf(schema) === 'text' && !schema.format && typeof row[name] === 'string';
  });
}

/** A new text that a schema allows. */
export function newText({ minLength = 0, maxLength = 40, format }: Schema, mark: string): string {
  if (format === 'email') return `load-${mark}@example.com`;
  if (format === 'uri') return `https://example.com/${mark}`;
  return `load ${mark} `.padEnd(minLength, 'lantern ').slice(0, maxLength).trimEnd().padEnd(minLength, 'x');
}

function fieldValue(schema: Schema, example: unknown, mark: string): unknown {
  const kind = kindOf(schema);
  if (kind === 'text') return newText(schema, mark);
  if (example !== undefined) return example;
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (kind === 'enum') return schema.enum?.[0];
  if (kind === 'boolean') return false;
  if (kind === 'number') return Math.max(schema.minimum ?? 0, 1);
  if (kind === 'bigint' || kind === 'decimal') return '1';
  if (kind === 'date') return '2024-01-01T00:00:00.000Z';
  return schema.type === 'array' ? [] : {};
}
