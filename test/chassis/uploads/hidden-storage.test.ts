import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Request } from 'express';
import { expect, it, onTestFinished } from 'vitest';
import { hiddenStorage } from '../../../src/chassis/uploads/hidden-storage.ts';

it('removes a file that is written after its client went away', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-hidden-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const { promise: mayBeWritten, resolve: write } = Promise.withResolvers<void>();
  const storage = hiddenStorage({
    directory,
    write: async (_file, path) => {
      await mayBeWritten;
      await writeFile(path, 'x');
      return {};
    },
    discard: ({ path }) => rm(path, { force: true }),
  });
  const [req, file] = [{} as Request, {} as Express.Multer.File];
  const written = new Promise((done) => storage._handleFile(req, file, done));
  await new Promise((done) => storage._removeFile(req, file, done));
  write();
  expect(await written).toBeNull();
  expect(existsSync(file.path)).toBe(false);
});
