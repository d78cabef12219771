/** What is read of a JSON schema, as OpenAPI 3.0 and 3.1 write it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly description?: string;
}

/**
 * The type of TypeScript of what a schema allows; `unknown` where it says nothing of it.
 *
 * @param indent how deep the text stands that it becomes a part of, in spaces
 */
export function schemaType(schema: JsonSchema | boolean | undefined, indent = 0): string {
  if (typeof schema !== 'object') return schema === false ? 'never' : 'unknown';
  if (schema.$ref !== undefined) return referenceType(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  const all = [
    ...(schema.allOf ?? []).map((part) => schemaType(part, indent)),
    ...[schema.oneOf, schema.anyOf].flatMap((some) =>
      some ? [union(some.map((part) => schemaType(part, indent)))] : [],
    ),
    ...ownTypes(schema, indent),
  ];
  const text = all.length === 0 ? 'unknown' : all.length === 1 ? String(all[0]) : all.map(inBrackets).join(' & ');
  return schema.nullable ? union([text, 'null']) : text;
}

/** What a schema says beside its parts; nothing where it leaves all to them. */
function ownTypes(schema: JsonSchema, indent: number): string[] {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  if (types.length > 0) return [union(types.map((type) => typeOf(type, schema, indent)))];
  return schema.properties ? [objectType(schema, indent)] : [];
}

function typeOf(type: string, schema: JsonSchema, indent: number): string {
  if (type === 'object') return objectType(schema, indent);
  if (type === 'array') return `${inBrackets(schemaType(schema.items, indent))}[]`;
  const known: Record<string, string> = {
    string: 'string',
    integer: 'number',
    number: 'number',
    boolean: 'boolean',
    null: 'null',
  };
  return Object.hasOwn(known, type) ? String(known[type]) : 'unknown';
}

function objectType({ properties = {}, required = [], additionalProperties }: JsonSchema, indent: number): string {
  const space = ' '.repeat(indent + 2);
  const lines = Object.entries(properties).map(([name, property]) => {
    const optional = required.includes(name) ? '' : '?';
    return `${comment(property.description, indent + 2)}${space}${key(name)}${optional}: ${schemaType(property, indent + 2)};\n`;
  });
  const others = additionalProperties === false ? undefined : schemaType(additionalProperties, indent);
  if (lines.length === 0) return others === undefined ? 'Record<string, never>' : `Record<string, ${others}>`;
  const text = `{\n${lines.join('')}${' '.repeat(indent)}}`;
  return typeof additionalProperties === 'object' ? `${text} & Record<string, ${others}>` : text;
}

function referenceType(reference: string): string {
  const name = /^#\/components\/schemas\/([^/]+)$/.exec(reference)?.[1];
  if (name === undefined) throw new Error(`Expected a reference to #/components/schemas, found ${reference}.`);
  return `components['schemas'][${key(decodeURIComponent(name), true)}]`;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ') || 'never';
}

/** A union or an intersection in brackets, so that what follows holds for all of it. */
function inBrackets(type: string): string {
  return / [|&] /.test(type) ? `(${type})` : type;
}

/** A name of a property as TypeScript writes it; nothing in it ends its quotes or its line. */
export function key(name: string, quoted = false): string {
  return !quoted && /^[A-Za-z_$][\w$]*$/.test(name)
    ? name
    : `'${JSON.stringify(name).slice(1, -1).replaceAll("'", "\\'")}'`;
}

/** A line of comment above a property; nothing without a text. */
export function comment(text: string | undefined, indent: number): string {
  if (!text) return '';
  return `${' '.repeat(indent)}/** ${text.replace(/\s+/g, ' ').replaceAll('*/', '*\\/').trim()} */\n`;
}
