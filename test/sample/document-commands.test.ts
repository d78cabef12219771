import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { codeBlocks, documents } from '../house/code-blocks.ts';
import { read, root } from '../house/repository.ts';
import { bootTestApp } from '../modules/support/boot-test-app.ts';

/** Every command of a document that has its answer below it. */
const examples = documents.flatMap((file) =>
  [...read(file).matchAll(/```sh run\n([^`]*?localhost:3000[^`]*?)```\s+```json\n(.*?)```/gs)].map(
    ([, command = '', answer = '']) => ({ title: `${file}: ${command.split('\n', 1)[0]}`, command, answer }),
  ),
);
/** Blocks that say that a test runs them; test/package/tutorial.test.ts runs those of the tutorial. */
const run = codeBlocks('sh').filter(({ info, file }) => info === 'run' && !file.startsWith('docs/tutorial/'));
const ofInternalPort = run.filter(({ code }) => code.includes('localhost:9464'));
const start = run.find(({ file, code }) => file === 'README.md' && code.includes('npm start'));

const hasCurl = spawnSync('curl', ['--version']).status === 0;

it('the documents have examples with answers', () => expect(examples.length).toBeGreaterThanOrEqual(3));

it('every block that says that a test runs it is run here', () => {
  const answered = examples.map(({ command }) => command);
  const others = run.filter((block) => !answered.includes(block.code) && !ofInternalPort.includes(block));
  expect(others).toEqual([start]);
});

describe.skipIf(!hasCurl)('a command of the documents (needs curl)', async () => {
  const { url, internalUrl } = hasCurl ? await bootTestApp() : { url: '', internalUrl: '' };

  it.each(examples)('gives the answer that stands there: $title', async ({ command, answer }) => {
    const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll('http://localhost:3000', url)]);
    expect(comparable(stdout)).toEqual(comparable(answer));
  });

  it.each(ofInternalPort)('succeeds at the internal port: $file', async ({ code }) => {
    const commands = code.replaceAll('curl ', 'curl -sSf ').replaceAll('localhost:9464', new URL(internalUrl).host);
    const { stdout } = await promisify(execFile)('sh', ['-ec', commands]);
    expect(stdout).toContain('"level":"debug"');
    expect(stdout).toMatch(/^# EOF$/m);
  });

  it('opens the API page', async () => {
    for (const [, path] of read('README.md').matchAll(/<http:\/\/localhost:3000(.*?)>/g)) {
      expect((await fetch(url + path)).status).toBe(200);
    }
  });
});

it('the commands at the top of README.md start the service', { timeout: 240_000 }, async ({ onTestFinished }) => {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-start-'));
  const [install, command = ''] = start?.code.trim().split('\n') ?? [];
  // Whoever runs this test has installed already.
  expect(install).toBe('npm ci');
  const { PATH, HOME } = process.env;
  const settings = { HOST: '127.0.0.1', PORT: '0', INTERNAL_PORT: '0', LOG_FORMAT: 'json' };
  const database = { DATABASE_URL: `file:${directory}/slipway.db`, DATABASE_SEED: 'none' };
  const child = spawn('sh', ['-c', command], {
    cwd: root,
    env: { PATH, HOME, ...settings, ...database },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const closed = once(child, 'close');
  onTestFinished(async () => {
    if (child.pid) process.kill(-child.pid, 'SIGTERM');
    await closed;
    rmSync(directory, { recursive: true, force: true });
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ready = /"msg":"ready at (http:\/\/[^",]+)/;
  await expect.poll(() => said, { timeout: 200_000 }).toMatch(ready);
  expect((await fetch(`${ready.exec(said)?.[1]}/api/v1/categories/paginated`)).status).toBe(200);
});

/** An answer without the one thing that differs each time, the moment of a failure. */
function comparable(json: string): unknown {
  return JSON.parse(json, (key, value) => (key === 'timestamp' ? 'a moment' : value));
}
