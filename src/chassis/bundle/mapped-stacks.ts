import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve, sep } from 'node:path';

/**
 * Has stacks name the sources where the build made scripts of them. A map is read when the first stack passes through its
 * script. Node does the same for what it loads itself, and not for scripts that were compiled before.
 *
 * @param root absolute path of the build
 */
export function mapStacks(root: string): void {
  const maps = new Map<string, SourceMap | undefined>();

  function mapOf(script: string): SourceMap | undefined {
    if (!maps.has(script)) maps.set(script, readMap(`${script}.map`));
    return maps.get(script);
  }

  function frame(site: NodeJS.CallSite): string {
    const [script, line, column] = [site.getFileName(), site.getLineNumber(), site.getColumnNumber()];
    if (!script?.startsWith(root + sep) || line === null || column === null) return String(site);
    const origin = mapOf(script)?.findOrigin(line, column);
    if (!origin || !('fileName' in origin)) return String(site);
    const place = `${resolve(dirname(script), origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
    return String(site).replace(`${script}:${line}:${column}`, () => place);
  }

  Error.prepareStackTrace = (error, sites) =>
    [heading(error), ...sites.map((site) => `    at ${frame(site)}`)].join('\n');
}

/** A stack is told as it is where its map is missing or damaged. */
function readMap(file: string): SourceMap | undefined {
  try {
    return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
  } catch {
    return undefined;
  }
}

/** As V8 writes it, also where the error cannot be written. */
function heading(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return '<error>';
  }
}
