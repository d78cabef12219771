import { createReadStream, fstat, open } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type AskedRoom, LentRoom } from '../lent-room.ts';
import { inDirectory, removeFile } from '../upload-storage.ts';
import { type UploadQuota, UploadUsage } from '../upload-usage.ts';
import { DirectoryLedger } from './directory-ledger.ts';
import { checkedName, type FileStore, noSuchFile, type Visibility } from './file-store.ts';
import { pacedReads } from './paced-reads.ts';

const openFile = promisify(open);
const sizeOfOpen = promisify(fstat);

/** `/uploads` serves nothing whose name begins with a dot. */
const privateFolder = '.private';

/**
 * Files in a directory: the public ones where `/uploads` serves them, the private ones in a folder that it never serves.
 *
 * @param makeRoom see `UploadUsage`
 */
export function localFiles(
  uploadDirectory: string,
  quota: UploadQuota,
  makeRoom?: (asked: AskedRoom) => void,
): FileStore {
  const directories = { public: resolve(uploadDirectory), private: join(resolve(uploadDirectory), privateFolder) };
  const disk = new LentRoom();
  const usage = {
    public: new UploadUsage(new DirectoryLedger(directories.public), quota, { makeRoom, disk }),
    private: new UploadUsage(new DirectoryLedger(directories.private, directories.public), quota, { makeRoom, disk }),
  };
  const pathOf = (name: string, visibility: Visibility) => join(directories[visibility], checkedName(name));
  return {
    incomingDirectory: directories.public,
    reserve: (visibility, owner, bytes) => usage[visibility].reserve(owner, bytes),
    put: (path, { name, visibility }) =>
      inDirectory(directories[visibility], () => rename(path, pathOf(name, visibility))),
    async sizeOf(name, visibility) {
      const { size } = await stat(pathOf(name, visibility)).catch(refuseMissing);
      return size;
    },
    async open(name, visibility, range) {
      const path = pathOf(name, visibility);
      const fd = await openFile(path, 'r').catch(refuseMissing);
      const { size } = await sizeOfOpen(fd);
      const stream = createReadStream(path, { fd, fs: pacedReads, ...range });
      return { stream, size: range ? range.end - range.start + 1 : size };
    },
    remove: (name, visibility) => removeFile(pathOf(name, visibility)),
    urlOf: (name) => `/uploads/${checkedName(name)}`,
  };
}

function refuseMissing(error: NodeJS.ErrnoException): never {
  throw error.code === 'ENOENT' ? noSuchFile(error) : error;
}
