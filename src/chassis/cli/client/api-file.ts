import { comment, type JsonSchema, key, schemaType } from './schema-type.ts';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: JsonSchema;
}

interface Body {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
}

interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses?: Readonly<Record<string, Body>>;
}

type PathItem = Readonly<Record<string, Operation>> & { readonly parameters?: readonly Parameter[] };

/** What is read of an OpenAPI document of version 3. */
export interface ApiDocument {
  readonly openapi: string;
  readonly info?: { readonly title?: string };
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
}

const methods = ['get', 'put', 'post', 'patch', 'delete'] as const;

/** By which a later run knows that nobody wrote the file by hand. */
export const apiFileHeading = '/** Made by `slipway client`; the next run overwrites it. */\n';

/**
 * A file of types of an API: `paths`, in the form that `httpClient` takes and openapi-typescript makes, and `components`.
 *
 * @throws Error for a reference that leads out of the document, or to nothing
 */
export function apiFile(document: ApiDocument): string {
  const paths = Object.entries(document.paths).map(
    ([path, item]) => `  ${key(path, true)}: {\n${operationsOf(document, item)}  };\n`,
  );
  const schemas = Object.entries(document.components?.['schemas'] ?? {}).map(
    ([name, schema]) => `${comment(schema.description, 4)}    ${key(name)}: ${schemaType(schema, 4)};\n`,
  );
  const components = `export interface components {\n  schemas: {\n${schemas.join('')}  };\n}\n`;
  return `${apiFileHeading}\nexport interface paths {\n${paths.join('')}}\n\n${components}`;
}

function operationsOf(document: ApiDocument, item: PathItem): string {
  return methods
    .flatMap((method) => (item[method] ? [operationText(document, method, item[method], item.parameters ?? [])] : []))
    .join('');
}

function operationText(
  document: ApiDocument,
  method: string,
  operation: Operation,
  shared: readonly Parameter[],
): string {
  const parameters = [...shared, ...(operation.parameters ?? [])].map((one) => resolved(document, one));
  const body = operation.requestBody && resolved(document, operation.requestBody);
  const places = ['path', 'query', 'header'].flatMap((place) => placeText(place, parameters));
  const responses = Object.entries(operation.responses ?? {}).map(
    ([status, answer]) =>
      `        ${/^\d{3}$/.test(status) ? status : key(status)}: ${contentText(resolved(document, answer))};\n`,
  );
  return [
    comment(operation.summary, 4),
    `    ${method}: {\n`,
    `      parameters: {${places.length > 0 ? `\n${places.join('')}      ` : ''}};\n`,
    body ? `      requestBody${body.required ? '' : '?'}: ${contentText(body)};\n` : '',
    `      responses: {\n${responses.join('')}      };\n    };\n`,
  ].join('');
}

/** The parameters of a path, query or header; nothing where there are none. */
function placeText(place: string, all: readonly Parameter[]): string[] {
  const parameters = all.filter((parameter) => parameter.in === place);
  if (parameters.length === 0) return [];
  const isRequired = ({ required }: Parameter) => place === 'path' || required === true;
  const lines = parameters.map(
    (parameter) =>
      `${comment(parameter.description, 10)}          ${key(parameter.name)}${isRequired(parameter) ? '' : '?'}: ${schemaType(parameter.schema, 10)};\n`,
  );
  return [`        ${place}${parameters.some(isRequired) ? '' : '?'}: {\n${lines.join('')}        };\n`];
}

function contentText({ content = {} }: Body): string {
  const types = Object.entries(content).map(
    ([type, { schema }]) => `            ${key(type, true)}: ${schemaType(schema, 12)};\n`,
  );
  return types.length > 0 ? `{\n          content: {\n${types.join('')}          };\n        }` : '{ content?: never }';
}

/** What a `$ref` leads to, within the document. */
function resolved<T extends { readonly $ref?: string }>(document: ApiDocument, value: T): T {
  if (value.$ref === undefined) return value;
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(value.$ref) ?? [];
  const target = document.components?.[kind]?.[name];
  if (target === undefined) throw new Error(`Expected ${value.$ref} in the document, found nothing.`);
  return target as unknown as T;
}
