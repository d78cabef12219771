import { isJson, type Json } from './deep-merge.ts';

/** An operation of the document, with its place. */
interface Operation {
  method: string;
  path: string;
  operation: Json;
}

/**
 * The first steps on the API page, as Markdown: log in where an operation has the id `login`, authorize where an operation
 * asks for that, and send the first list with a filter, one that everybody may call where there is one. Steps that the
 * document has no operation for are left out.
 *
 * @param account address and password that may be shown to everybody, as in development
 */
export function introduction(document: Json, account?: string): string {
  const operations = operationsOf(document);
  const login = operations.find(({ operation }) => operation['operationId'] === 'login');
  const lists = operations.filter(({ path, operation }) => path.endsWith('/paginated') && hasFilter(operation));
  const list = lists.find(({ operation }) => operation['security'] === undefined) ?? lists[0];
  const needsToken = operations.some(({ operation }) => operation['security'] !== undefined);
  const steps = [
    ...(login ? [`Send ${nameOf(login)}${account ? ` with the sample account ${account}` : ''}.`] : []),
    ...(login ? ['Copy `accessToken` from its answer into **Authorize**; a reload of the page keeps it.'] : []),
    ...(!login && needsToken ? ['Give **Authorize** your token; a reload of the page keeps it.'] : []),
    ...(list ? [`Send ${nameOf(list)} with **Try it out**: \`where\` filters, \`orderBy\` sorts, both are JSON.`] : []),
  ];
  return steps.map((step, index) => `${index + 1}. ${step}`).join('\n');
}

function operationsOf({ paths }: Json): Operation[] {
  return Object.entries((paths ?? {}) as Json).flatMap(([path, item]) =>
    Object.entries(isJson(item) ? item : {}).flatMap(([method, operation]) =>
      isJson(operation) ? [{ method, path, operation }] : [],
    ),
  );
}

function hasFilter({ parameters = [] }: Json): boolean {
  return (parameters as Json[]).some(({ name }) => name === 'where');
}

function nameOf({ method, path }: Operation): string {
  return `\`${method.toUpperCase()} ${path}\``;
}
