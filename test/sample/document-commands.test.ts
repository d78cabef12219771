import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { documents } from '../house/code-blocks.ts';
import { read } from '../house/repository.ts';
import { bootTestApp } from '../modules/support/boot-test-app.ts';

/** Every command of a document that has its answer below it. */
const examples = documents.flatMap((file) =>
  [...read(file).matchAll(/```sh run\n([^`]*?localhost:3000[^`]*?)```\s+```json\n(.*?)```/gs)].map(
    ([, command = '', answer = '']) => ({ title: `${file}: ${command.split('\n', 1)[0]}`, command, answer }),
  ),
);

const hasCurl = spawnSync('curl', ['--version']).status === 0;

it('the documents have examples with answers', () => expect(examples.length).toBeGreaterThanOrEqual(3));

describe.skipIf(!hasCurl)('a command of the documents (needs curl)', async () => {
  const { url } = hasCurl ? await bootTestApp() : { url: '' };

  it.each(examples)('gives the answer that stands there: $title', async ({ command, answer }) => {
    const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll('http://localhost:3000', url)]);
    expect(comparable(stdout)).toEqual(comparable(answer));
  });

  it('opens the API page', async () => {
    for (const [, path] of read('README.md').matchAll(/<http:\/\/localhost:3000(.*?)>/g)) {
      expect((await fetch(url + path)).status).toBe(200);
    }
  });
});

/** An answer without the one thing that differs each time, the moment of a failure. */
function comparable(json: string): unknown {
  return JSON.parse(json, (key, value) => (key === 'timestamp' ? 'a moment' : value));
}
