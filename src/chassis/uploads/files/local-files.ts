import { mkdir, open, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { removeFile } from '../upload-storage.ts';
import { type UploadQuota, UploadUsage } from '../upload-usage.ts';
import { DirectoryLedger } from './directory-ledger.ts';
import { checkedName, type FileStore, noSuchFile, type Visibility } from './file-store.ts';

/** `/uploads` serves nothing whose name begins with a dot. */
const privateFolder = '.private';

/** Files in a directory: the public ones where `/uploads` serves them, the private ones in a folder that it never serves. */
export function localFiles(uploadDirectory: string, quota: UploadQuota): FileStore {
  const directories = { public: resolve(uploadDirectory), private: join(resolve(uploadDirectory), privateFolder) };
  const usage = {
    public: new UploadUsage(new DirectoryLedger(directories.public), quota),
    private: new UploadUsage(new DirectoryLedger(directories.private), quota),
  };
  const pathOf = (name: string, visibility: Visibility) => join(directories[visibility], checkedName(name));
  return {
    incomingDirectory: directories.public,
    reserve: (visibility, owner, bytes) => usage[visibility].reserve(owner, bytes),
    async put(path, { name, visibility }) {
      await mkdir(directories[visibility], { recursive: true });
      await rename(path, pathOf(name, visibility));
    },
    async sizeOf(name, visibility) {
      const { size } = await stat(pathOf(name, visibility)).catch(refuseMissing);
      return size;
    },
    async open(name, visibility, range) {
      const handle = await open(pathOf(name, visibility), 'r').catch(refuseMissing);
      const { size } = await handle.stat();
      return { stream: handle.createReadStream(range), size: range ? range.end - range.start + 1 : size };
    },
    remove: (name, visibility) => removeFile(pathOf(name, visibility)),
    urlOf: (name) => `/uploads/${checkedName(name)}`,
  };
}

function refuseMissing(error: NodeJS.ErrnoException): never {
  throw error.code === 'ENOENT' ? noSuchFile(error) : error;
}
