import { existsSync } from 'node:fs';
import swaggerJSDoc from 'swagger-jsdoc';
import { deepMerge, isJson, type Json } from './deep-merge.ts';
import { documentedPath, type RouteSource } from './route-source.ts';

const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);
const pathItemFields = new Set(['$ref', 'summary', 'description', 'servers', 'parameters']);

/** What an author wrote about one path. */
export interface DocumentedPath {
  /** Fields of the path item itself. */
  item: Json;
  /** What stands beside the methods and belongs to every operation, such as tags. */
  defaults: Json;
  operations: Record<string, Json>;
  /** Component name of the resource whose standard routes start at this path (`x-resource`). */
  resource: string | undefined;
}

/** The `@openapi` comments of one route file, with the paths as they are mounted. */
export interface AuthorDocs {
  paths: Map<string, DocumentedPath>;
  tags: Json[];
  components: Json;
}

/**
 * Reads the `@openapi` comments of a route file.
 *
 * @throws Error when a comment is no valid YAML; the message shows the comment and the file
 */
export function readAuthorDocs({ file, prefix }: RouteSource): AuthorDocs {
  const written = parse(file);
  const paths = new Map<string, DocumentedPath>();
  for (const [path, item] of Object.entries((written['paths'] ?? {}) as Json)) {
    const template = documentedPath(prefix, path);
    if (!isJson(item))
      throw new Error(`Expected operations below ${path} in an @openapi comment of ${file}, found ${item}.`);
    paths.set(template, mergePaths(paths.get(template), documentPath(item)));
  }
  return { paths, tags: (written['tags'] ?? []) as Json[], components: (written['components'] ?? {}) as Json };
}

function parse(routeFile: string): Json {
  const file = commentsOf(routeFile);
  // swagger-jsdoc takes patterns, so characters of a directory name that mean something in one are escaped.
  const pattern = file.replace(/[?*()[\]{}]/g, '[$&]');
  const definition = { openapi: '3.0.0', info: { title: '', version: '' } };
  try {
    return swaggerJSDoc({ definition, apis: [pattern], failOnErrors: true, verbose: true }) as Json;
  } catch (error) {
    throw new Error(`Expected the @openapi comments of ${file} to be valid YAML; correct them.`, { cause: error });
  }
}

/** The build writes the comments of a route file beside it. */
function commentsOf(routeFile: string): string {
  const beside = routeFile.replace(/\.js$/, '.openapi.js');
  return existsSync(beside) ? beside : routeFile;
}

function documentPath(written: Json): DocumentedPath {
  const documented: DocumentedPath = { item: {}, defaults: {}, operations: {}, resource: undefined };
  for (const [key, value] of Object.entries(written)) {
    if (key === 'x-resource') documented.resource = String(value);
    else if (methods.has(key)) documented.operations[key] = isJson(value) ? value : {};
    else if (pathItemFields.has(key) || key.startsWith('x-')) documented.item[key] = value;
    else documented.defaults[key] = value;
  }
  return documented;
}

function mergePaths(base: DocumentedPath | undefined, over: DocumentedPath): DocumentedPath {
  return base === undefined ? over : { ...(deepMerge(base, over) as DocumentedPath) };
}
