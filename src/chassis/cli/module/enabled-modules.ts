/**
 * The text of src/app.config.ts with one more module at the end of its list.
 *
 * @throws Error where the list cannot be found
 */
export function withModule(text: string, name: string, routesPrefix: string): string {
  const end = endOfModules(text);
  if (end === undefined) {
    throw new Error('Expected a list "modules: [ … ]" in src/app.config.ts, found none; add the module there by hand.');
  }
  const before = text.slice(0, end).trimEnd();
  const comma = before.endsWith('[') || before.endsWith(',') ? '' : ',';
  const entry = `      { name: '${name}', enabled: true, routesPrefix: '${routesPrefix}' },`;
  return `${before}${comma}\n${entry}\n    ${text.slice(end)}`;
}

/** Where the bracket stands that closes the list. */
function endOfModules(text: string): number | undefined {
  const start = /\bmodules:\s*\[/.exec(text);
  if (!start) return undefined;
  let depth = 0;
  for (let index = start.index + start[0].length - 1; index < text.length; index += 1) {
    if (text[index] === '[') depth += 1;
    if (text[index] === ']') depth -= 1;
    if (depth === 0) return index;
  }
  return undefined;
}
