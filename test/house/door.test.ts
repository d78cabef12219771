import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { read, repositoryFiles, root } from './repository.ts';

const door = 'src/chassis/index.ts';
const spec = read('docs/reference/spec.md');

interface Exported {
  name: string;
  where: string;
  comment: string;
}

/** What the door gives, with the doc comment of each declaration. */
function exportsOfDoor(): Exported[] {
  const { options } = ts.parseJsonConfigFileContent(JSON.parse(read('tsconfig.json')), ts.sys, root);
  const program = ts.createProgram([join(root, door)], options);
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(join(root, door));
  const symbol = file && checker.getSymbolAtLocation(file);
  if (!symbol) throw new Error(`Expected a module with exports at ${door}, found none.`);
  return checker.getExportsOfModule(symbol).map((exported) => {
    const declared = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    const comment = ts.displayPartsToString(declared.getDocumentationComment(checker));
    const tags = declared.getJsDocTags(checker).map((tag) => ts.displayPartsToString(tag.text));
    const where = declared.declarations?.[0]?.getSourceFile().fileName.replace(`${root}/`, '') ?? door;
    return { name: exported.name, where, comment: [comment, ...tags].join('\n') };
  });
}

describe('the door', () => {
  // A foreign declaration, such as zod's, is documented where it comes from.
  const exported = exportsOfDoor().filter(({ where }) => !where.includes('node_modules'));

  it('has a doc comment on every export', () => {
    expect(
      exported.filter(({ comment }) => comment.trim() === '').map(({ name, where }) => `${where}: ${name}`),
    ).toEqual([]);
  });

  it('names the section of spec.md where an export comes from', () => {
    // A name of two words that spec.md knows is the thing that spec.md speaks of.
    const known = exported.filter(({ name }) => /[a-z][A-Z]/.test(name) && new RegExp(`\\b${name}\\b`).test(spec));
    const silent = known.filter(({ comment }) => !comment.includes('spec.md: '));
    expect(silent.map(({ name, where }) => `${where}: ${name}`)).toEqual([]);
  });

  it('gives a module everything by name, with no side effect on import', () => {
    const script = `
      const events = () => process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
      const before = JSON.stringify(events());
      await import(${JSON.stringify(pathToFileURL(join(root, door)).href)});
      if (JSON.stringify(events()) !== before) throw new Error('a listener of the process was added');
      const open = process.getActiveResourcesInfo().filter((name) => !/^(TTYWrap|PipeWrap|CloseReq|FSReq.*)$/.test(name));
      if (open.length > 0) throw new Error('left open: ' + open);`;
    expect(() =>
      execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: root, stdio: 'pipe' }),
    ).not.toThrow();
  });
});

describe('references to spec.md', () => {
  const headings = [...spec.matchAll(/^#+ (.+)$|^([A-Z][A-Za-z ]+):$/gm)].map(
    ([, section, list]) => section ?? list ?? '',
  );

  it('name sections that it has', () => {
    const wrong = repositoryFiles(/^(src|prisma|scripts)\/.*\.ts$/).flatMap((file) =>
      citations(read(file))
        .filter((title) => !headings.some((heading) => heading.startsWith(title)))
        .map((title) => `${file}: ${title}`),
    );
    expect(wrong, `the sections are: ${headings.join('; ')}`).toEqual([]);
  });
});

/** The sections that a text refers to, without the number of a rule; a comment may break the line in between. */
function citations(text: string): string[] {
  return [...text.matchAll(/spec\.md:([^,;).]+)/g)].map(([, title = '']) =>
    title
      .replaceAll(/\s+(\*\s+)?/g, ' ')
      .replace(/ rules?( \d.*)?$/, '')
      .trim(),
  );
}
