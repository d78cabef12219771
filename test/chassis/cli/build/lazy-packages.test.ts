import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, it, onTestFinished } from 'vitest';
import { lazyPackagesPlugin, wholeModulesPlugin } from '../../../../src/chassis/cli/build/build-plugins.ts';

it('a class of a package that is loaded once something asks for it is made as any other', async () => {
  const root = mkdtempSync(join(tmpdir(), 'slipway-lazy-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const rules =
    "import { RRuleTemporal } from 'rrule-temporal';\nexport const rule = (text) => new RRuleTemporal({ text });";
  write('package.json', '{"type":"module"}');
  write('node_modules/pg-boss/index.js', rules);
  write('node_modules/pg-boss/package.json', '{"name":"pg-boss","type":"module","main":"index.js"}');
  const counted = 'globalThis.loadedRules = (globalThis.loadedRules ?? 0) + 1;';
  write(
    'node_modules/rrule-temporal/index.js',
    `${counted}\nexport class RRuleTemporal { constructor({ text }) { this.text = text; } next() { return this.text + '!'; } }`,
  );
  write('node_modules/rrule-temporal/package.json', '{"name":"rrule-temporal","type":"module","main":"index.js"}');
  write('main.js', "export { rule } from 'pg-boss';");
  const bundle = await rolldown({
    cwd: root,
    input: 'main.js',
    platform: 'node',
    plugins: [wholeModulesPlugin, lazyPackagesPlugin],
  });
  const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs' };
  await bundle.write({ dir: join(root, 'dist'), format: 'cjs', exports: 'named', ...names });
  const { rule } = await import(pathToFileURL(join(root, 'dist/main.cjs')).href);
  const loaded = globalThis as { loadedRules?: number };
  expect(loaded.loadedRules).toBe(undefined);
  expect([rule('daily').next(), rule('weekly').text]).toEqual(['daily!', 'weekly']);
  expect(loaded.loadedRules).toBe(1);
});
