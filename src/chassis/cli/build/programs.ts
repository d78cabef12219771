import { dirname, relative } from 'node:path';
import type { Plugin } from 'rolldown';
import { chassisFile } from '../../config/layout.ts';

const prefix = '\0program-';

/** What a program is bundled from: a file that loads it with what was compiled of it. */
export const programOf = (file: string) => prefix + file;

/**
 * Makes two scripts of a program `main.ts`: itself, as `program.js`, and beside it a `main.js`, which loads that.
 *
 * @param placeOf path of a file in the build, without extension
 */
export const programsPlugin = (placeOf: (file: string) => string): Plugin => ({
  name: 'programs',
  resolveId: (id) => (id.startsWith(prefix) ? id : undefined),
  load(id) {
    if (!id.startsWith(prefix)) return undefined;
    const file = id.slice(prefix.length);
    const directory = dirname(placeOf(file));
    const name = directory === '.' ? 'program' : `${directory}/program`;
    this.emitFile({ type: 'chunk', id: file, fileName: `${name}.js` });
    const root = relative(directory, '.') || '.';
    return `import { join } from 'node:path';
import { loadProgram } from ${JSON.stringify(chassisFile('bundle/load-program'))};
loadProgram(join(import.meta.dirname, ${JSON.stringify(root)}), ${JSON.stringify(`${name}.js`)});`;
  },
});

/** Has the chassis require what it finds by its place: a script that was compiled before cannot import. */
export const requiredFilesPlugin: Plugin = {
  name: 'required-files',
  transform(code, id) {
    if (id !== chassisFile('config/layout')) return undefined;
    if (!importOfFile.test(code)) throw new Error(`Expected ${importOfFile} in ${id}, where the build requires it.`);
    return { code: code.replace(importOfFile, 'Promise.resolve(path).then(require)'), map: null };
  },
};

/** In the package, the compiler has a function of its own look at the path. */
const importOfFile = /import\((?:__rewriteRelativeImportExtension\()?pathToFileURL\(path\)\.href\){1,2}/;
