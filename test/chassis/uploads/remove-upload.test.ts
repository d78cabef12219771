import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeUpload } from '../../../src/chassis/uploads/receive-upload.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'remove-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('removeUpload', () => {
  it('removes a stored file, and takes one that is gone for removed', async () => {
    await writeFile(join(directory, 'a.png'), '');
    await removeUpload(directory, 'a.png');
    await removeUpload(directory, 'a.png');
    expect(await readdir(directory)).toEqual([]);
  });

  it.each(['../a.png', '/etc/passwd', '.hidden', 'a/b.png', ''])('refuses the name "%s"', async (name) => {
    await expect(removeUpload(directory, name)).rejects.toThrow('Expected the name of an uploaded file');
  });
});
