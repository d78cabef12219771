import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { CompiledScripts } from './compiled-scripts.ts';
import { mapStacks } from './mapped-stacks.ts';

interface Loaded {
  exports: unknown;
}
type Body = (exports: unknown, require: NodeJS.Require, module: Loaded, filename: string, directory: string) => void;
const head = '(function (exports, require, module, __filename, __dirname) { ';

/**
 * Runs a program of a build: its scripts with what was compiled of them, everything else by Node. Stacks name the sources.
 *
 * @param root absolute path of the build
 * @param program path of its first script, from there
 */
export function loadProgram(root: string, program: string): void {
  mapStacks(root);
  const scripts = new CompiledScripts(root, join(root, '../.cache/compiled'));
  const loaded = new Map<string, Loaded>();

  function load(filename: string): unknown {
    const before = loaded.get(filename);
    if (before) return before.exports;
    const module: Loaded = { exports: {} };
    loaded.set(filename, module);
    const directory = dirname(filename);
    const require = requireFrom(directory, createRequire(filename));
    const body: Body = scripts.script(filename, head, '\n})').runInThisContext();
    try {
      body.call(module.exports, module.exports, require, module, filename, directory);
    } catch (error) {
      // Whoever asks again has it run again, as by Node.
      loaded.delete(filename);
      throw error;
    }
    return module.exports;
  }

  const isScript = (path: string) => /\.c?js$/.test(path) && path.startsWith(root + sep);
  function requireFrom(directory: string, byNode: NodeJS.Require): NodeJS.Require {
    const require = (id: string) => {
      const path = id.startsWith('.') ? join(directory, id) : id;
      return isAbsolute(path) && isScript(path) ? load(path) : byNode(path);
    };
    return Object.assign(require, byNode);
  }

  load(join(root, program));
}
