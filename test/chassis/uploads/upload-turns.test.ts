import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { localFiles } from '../../../src/chassis/uploads/files/local-files.ts';
import { type HiddenFile, publishUpload } from '../../../src/chassis/uploads/upload-storage.ts';
import { images } from '../../support/images.ts';

const png = images.png();

it('has short images wait for none of the long ones that are freed of their metadata', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-turns-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const quota = { perOwner: 20_000_000, total: 20_000_000, minimumFree: 0 };
  const storage = {
    field: 'image',
    files: localFiles(directory, quota),
    types: ['image/png' as const],
    maxPixels: 10_000,
  };
  const fileOf = (name: string, size: number): HiddenFile => ({
    path: join(directory, name),
    size,
    imageType: 'image/png',
  });
  const published: string[] = [];
  const publish = (file: HiddenFile, name: string) =>
    publishUpload(file, 'owner', storage).then(() => void published.push(name));
  // Nothing comes out of a pipe before something is written into it.
  const long = ['.one', '.two', '.three'].map((name) => fileOf(name, 2_000_000));
  for (const { path } of long.slice(0, 2)) execFileSync('mkfifo', [path]);
  const waiting = long.map((file) => publish(file, 'long'));
  const [short, third] = [fileOf('.short', png.length), long[2] as HiddenFile];
  await Promise.all([short, third].map(({ path }) => writeFile(path, png)));
  await publish(short, 'short');
  expect(published).toEqual(['short']);
  for (const { path } of long.slice(0, 2)) await writeFile(path, png);
  await Promise.all(waiting);
  expect(published).toEqual(['short', 'long', 'long', 'long']);
});
