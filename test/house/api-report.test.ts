import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { apiReport, deprecationsIn } from './api-report.ts';
import { root } from './repository.ts';

it('docs/reference/api.md says what the package exports: a change of it is a change for every service', async () => {
  await expect(apiReport()).toMatchFileSnapshot(join(root, 'docs/reference/api.md'));
}, 240_000);

const deprecationsOf = (text: string) =>
  deprecationsIn(ts.createSourceFile('door.d.ts', text, ts.ScriptTarget.Latest, true));

it('the report says what is deprecated, since when and what replaces it, of functions, values and options', () => {
  const text = `
    /** Opens. @deprecated since 1.4: use \`start\` */
    export declare function open(): void;
    /** @deprecated since 1.5: use levels */
    export declare const level: number;
    export interface Options {
      /** @deprecated since 1.6: use timeoutMs */
      timeout?: number;
      timeoutMs?: number;
    }`;
  expect(deprecationsOf(text)).toEqual([
    '// open is deprecated since 1.4: use `start`',
    '// level is deprecated since 1.5: use levels',
    '// timeout is deprecated since 1.6: use timeoutMs',
  ]);
});

it.each(['', 'soon', 'since 1.4', 'use start'])('a deprecation that only says "%s" is refused', (said) => {
  expect(() => deprecationsOf(`/** @deprecated ${said} */ export declare function open(): void;`)).toThrow(
    'Expected "@deprecated since 1.2: use …" at open',
  );
});
