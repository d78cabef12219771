/** A schema of a document, as far as load tests read it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

/** One parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: Schema;
  readonly content?: Content;
}

/** One method of a path. */
export interface Operation {
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
}

/** An OpenAPI 3 document, as far as load tests read it. */
export interface ApiDocument {
  readonly info?: { readonly version?: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security?: readonly object[];
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** Follows references until there is a schema; one that leads nowhere is an empty schema. */
export function resolve(document: ApiDocument, schema: Schema = {}): Schema {
  let found: Schema = schema;
  for (let steps = 0; found.$ref !== undefined && steps < 10; steps += 1) {
    const name = found.$ref.slice(found.$ref.lastIndexOf('/') + 1);
    found = document.components?.schemas?.[name] ?? {};
  }
  return found;
}

/** The properties of a schema: its own, and those of the parts that it is made of. */
export function propertiesOf(document: ApiDocument, schema: Schema | undefined): Record<string, Schema> {
  const { properties = {}, allOf = [] } = resolve(document, schema);
  const parts = allOf.map((part) => propertiesOf(document, part));
  return Object.assign({}, ...parts, properties);
}

/** The alternatives of a schema, or the schema itself where it has none. */
export function alternativesOf(document: ApiDocument, schema: Schema | undefined): Schema[] {
  const found = resolve(document, schema);
  return (found.anyOf ?? [found]).map((part) => resolve(document, part));
}

/** The schema of the JSON body of an operation. */
export function bodySchema(document: ApiDocument, operation: Operation | undefined): Schema | undefined {
  const schema = operation?.requestBody?.content?.['application/json']?.schema;
  return schema && resolve(document, schema);
}

/** The schema of `data` in the success body of an operation. */
export function dataSchema(document: ApiDocument, operation: Operation | undefined): Schema | undefined {
  const schema = operation?.responses?.['200']?.content?.['application/json']?.schema;
  const data = propertiesOf(document, schema)['data'];
  return data && resolve(document, data);
}

/** Whether an operation takes credentials: it names a security scheme, or the document does for all. */
export function isGuarded(document: ApiDocument, { security = document.security ?? [] }: Operation): boolean {
  return security.length > 0 && security.every((scheme) => Object.keys(scheme).length > 0);
}
