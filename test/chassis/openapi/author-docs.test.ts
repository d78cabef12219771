import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Router } from 'express';
import ts from 'typescript';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readAuthorDocs } from '../../../src/chassis/openapi/author-docs.ts';
import { shopFile } from './shop.ts';

const read = (file: string, prefix = '/api/v1') => readAuthorDocs({ module: 'shop', file, prefix, router: Router() });

/** A directory for one test; its name means something to a file pattern. */
function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'open(api)[x]{y}-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

describe('@openapi comments', () => {
  it('are read from the route file, with the paths below the prefix', () => {
    const { paths, tags } = read(shopFile('item'));
    expect([...paths.keys()]).toEqual(['/api/v1/items', '/api/v1/items/{id}']);
    expect(paths.get('/api/v1/items')).toMatchObject({ resource: 'Item', defaults: { tags: ['Shop'] } });
    expect(tags).toEqual([{ name: 'Shop', description: 'What the shop sells' }]);
  });

  it('write parameters as Express does or as OpenAPI does', () => {
    expect([...read(shopFile('basket'), '').paths.keys()]).toEqual(['/baskets', '/baskets/{id}/items']);
  });

  it.each(['item', 'basket', 'astray'])('say the same in the build of %s.routes.ts', (name) => {
    const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.');
    const source = readFileSync(shopFile(name), 'utf8');
    const { outputText } = ts.transpileModule(source, { compilerOptions: { ...options, noEmit: false } });
    const built = join(directory(), `${name}.routes.js`);
    writeFileSync(built, outputText);
    expect(read(built)).toEqual(read(shopFile(name)));
  });

  it('that are no YAML are an error that names the file and shows the comment', () => {
    expect(() => read(shopFile('broken'))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('broken.routes.ts to be valid YAML'),
        cause: expect.objectContaining({ message: expect.stringContaining('tags: [Shop }') }),
      }),
    );
  });
});
