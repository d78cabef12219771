import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { localFiles } from '../../../src/chassis/uploads/files/local-files.ts';
import { type HiddenFile, publishUpload } from '../../../src/chassis/uploads/upload-storage.ts';
import { images } from '../../support/images.ts';

const png = images.png();
/** Longer than what is freed of its metadata at once. */
const long = Buffer.concat([png, Buffer.alloc(100_000)]);

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
  const { promise: mayBeRead, resolve: letThemBeRead } = Promise.withResolvers<void>();
  const fileOf = async (name: string, content: Buffer, reading?: Promise<void>): Promise<HiddenFile> => {
    const path = join(directory, name);
    const handle = await open(path, 'wx+');
    await handle.writeFile(content);
    const read = handle.read.bind(handle) as (...place: unknown[]) => Promise<never>;
    handle.read = async (...place: unknown[]) => reading?.then(() => read(...place)) ?? read(...place);
    return { path, handle, size: content.length, imageType: 'image/png' };
  };
  const published: string[] = [];
  const publish = (file: HiddenFile, name: string) =>
    publishUpload(file, 'owner', storage).then(() => void published.push(name));
  const files = await Promise.all([
    fileOf('.one', long, mayBeRead),
    fileOf('.two', long, mayBeRead),
    fileOf('.three', long),
  ]);
  const waiting = files.map((file) => publish(file, 'long'));
  await publish(await fileOf('.short', png), 'short');
  expect(published).toEqual(['short']);
  letThemBeRead();
  await Promise.all(waiting);
  expect(published).toEqual(['short', 'long', 'long', 'long']);
});
