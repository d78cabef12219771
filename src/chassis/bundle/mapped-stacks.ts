import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve, sep } from 'node:path';

/** Places of sources that are kept, of all scripts. */
const mostPlaces = 2000;

/**
 * Has stacks name the sources where the build made scripts of them. A map is read when a stack passes through its script at a
 * place that is not known, and kept no longer than until garbage is collected, because it takes 10 MB. Node does the same for
 * what it loads itself, and not for scripts that were compiled before.
 *
 * @param root absolute path of the build
 */
export function mapStacks(root: string): void {
  const maps = new Map<string, WeakRef<SourceMap> | undefined>();
  const places = new Map<string, string | undefined>();

  function mapOf(script: string): SourceMap | undefined {
    const known = maps.get(script);
    if (known === undefined && maps.has(script)) return undefined;
    const map = known?.deref() ?? readMap(`${script}.map`);
    maps.set(script, map && new WeakRef(map));
    return map;
  }

  function placeIn(script: string, line: number, column: number): string | undefined {
    const at = `${script}:${line}:${column}`;
    if (!places.has(at)) {
      const origin = mapOf(script)?.findOrigin(line, column);
      const isKnown = origin !== undefined && 'fileName' in origin;
      const source = isKnown ? resolve(dirname(script), origin.fileName) : '';
      if (places.size >= mostPlaces) places.clear();
      places.set(at, isKnown ? `${source}:${origin.lineNumber}:${origin.columnNumber}` : undefined);
    }
    return places.get(at);
  }

  function frame(site: NodeJS.CallSite): string {
    const [script, line, column] = [site.getFileName(), site.getLineNumber(), site.getColumnNumber()];
    if (!script?.startsWith(root + sep) || line === null || column === null) return String(site);
    const place = placeIn(script, line, column);
    if (place === undefined) return String(site);
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
