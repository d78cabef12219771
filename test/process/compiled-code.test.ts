import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { Script } from 'node:vm';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildDirectory, builtFixture } from '../support/built.ts';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

const program = [builtFixture('trouble'), 'trouble'];
const start = 'chassis/chunks/start.js';
const env = {
  NODE_ENV: 'production',
  SHUTDOWN_ACCEPT_MS: '0',
  DATABASE_URL: 'none',
  ACCESS_SECRET: 'a secret of the tests, 32 letters or more',
};

afterAll(killSpawned);

/** Starts the service, asks it once, and ends it. */
async function started(settings: Record<string, string>): Promise<void> {
  const service = new SpawnedService({ program, env: { ...env, ...settings } });
  const { url } = await service.ready();
  expect((await fetch(`${url}/wait/1`)).status).toBe(200);
  expect(await service.end()).toEqual({ code: 0, signal: null });
}

function cacheDirectory(): string {
  const cache = mkdtempSync(join(tmpdir(), 'slipway-compiled-'));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  return cache;
}

/** Scripts of the build in a cache, and when and what was kept of them. */
function keptIn(cache: string): Map<string, { place: string; at: number; bytes: number }> {
  const files = readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((file) => /\.c?js$/.test(file));
  return new Map(
    files.map((file) => {
      const place = join(cache, file);
      const { mtimeMs: at, size: bytes } = statSync(place);
      return [file.replace(/.*\//, ''), { place, at, bytes }];
    }),
  );
}

/** A build of one script, which can be written anew and run. */
function smallBuild(cache: string): { write(script: string): void; run(): string } {
  const build = mkdtempSync(join(tmpdir(), 'slipway-build-'));
  onTestFinished(() => rmSync(build, { recursive: true }));
  const loader = JSON.stringify(join(import.meta.dirname, '../../src/chassis/bundle/load-program.ts'));
  const call = `import(${loader}).then(({ loadProgram }) => loadProgram(${JSON.stringify(build)}, 'program.js'))`;
  const settings = { env: { ...process.env, NODE_COMPILE_CACHE: cache }, encoding: 'utf8' } as const;
  return {
    write: (script) => writeFileSync(join(build, 'program.js'), script),
    run: () => execFileSync(process.execPath, ['-e', call], settings),
  };
}

describe('what a start compiled of a build', () => {
  it('is kept with the functions that it called, and taken by the next', async () => {
    const cache = cacheDirectory();
    await started({ NODE_COMPILE_CACHE: cache });
    const kept = keptIn(cache);
    const before = new Script(readFileSync(`${buildDirectory}/${start}`, 'utf8')).createCachedData().length;
    expect(kept.get(start.replaceAll('/', '+'))?.bytes).toBeGreaterThan(1.5 * before);
    await started({ NODE_COMPILE_CACHE: cache });
    expect(keptIn(cache)).toEqual(kept);
  });

  it('is compiled anew where the disk has lost a part of it', async () => {
    const cache = cacheDirectory();
    await started({ NODE_COMPILE_CACHE: cache });
    const whole = keptIn(cache);
    for (const { place, bytes } of whole.values()) {
      writeFileSync(place, Buffer.concat([readFileSync(place).subarray(0, bytes / 2), Buffer.alloc(bytes / 2)]));
    }
    await started({ NODE_COMPILE_CACHE: cache });
    expect([...keptIn(cache).keys()].toSorted()).toEqual([...whole.keys()].toSorted());
    const found = keptIn(cache).get(start.replaceAll('/', '+'));
    expect(readFileSync(found?.place ?? '').subarray(-64)).not.toEqual(Buffer.alloc(64));
  });

  it('is compiled anew where the script has changed and is as long as before', async () => {
    const cache = cacheDirectory();
    const { write, run } = smallBuild(cache);
    write("console.log('one');");
    expect([run(), run()]).toEqual(['one\n', 'one\n']);
    write("console.log('two');");
    expect(run()).toBe('two\n');
  });

  it('is kept under the options of V8 that the next start has, whatever the young generation is held at', () => {
    const cache = cacheDirectory();
    const { write, run } = smallBuild(cache);
    write("require('node:v8').setFlagsFromString('--semi-space-growth-factor=1'); console.log('one');");
    run();
    const kept = keptIn(cache);
    expect(run()).toBe('one\n');
    expect(kept.size).toBe(1);
    expect(keptIn(cache)).toEqual(kept);
  });

  it('is not kept where there is no place for it, and the service goes on', async () => {
    const cache = cacheDirectory();
    await started({ NODE_COMPILE_CACHE: cache });
    const directory = dirname(keptIn(cache).get(start.replaceAll('/', '+'))?.place ?? '');
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'in the way');
    await started({ NODE_COMPILE_CACHE: cache });
    expect(readFileSync(directory, 'utf8')).toBe('in the way');
  });

  it('is not kept where NODE_DISABLE_COMPILE_CACHE says so', async () => {
    const cache = cacheDirectory();
    await started({ NODE_COMPILE_CACHE: cache, NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(readdirSync(cache)).toEqual([]);
  });
});
