import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { StorageEngine } from 'multer';

type IncomingFile = Express.Multer.File;

/** How files are written that come in. */
interface HiddenStorageOptions {
  /** Where, absolute. */
  directory: string;
  /** Writes a file and gives what the handler is to know of it; leaves nothing where it fails. */
  write: (file: IncomingFile, path: string) => Promise<object>;
  /** Removes what was written of one, if anything was. */
  discard: (file: { path: string }) => Promise<void>;
}

/**
 * A storage of multer that writes files under a hidden name, which `/uploads` does not serve. When a client goes away multer
 * asks once to have its file removed, maybe before there is one, and not again once it was written: it goes then.
 */
export function hiddenStorage({ directory, write, discard }: HiddenStorageOptions): StorageEngine {
  const removed = new WeakSet<IncomingFile>();
  return {
    _handleFile(_req, file, callback) {
      // Known to multer from now on, so that it removes the file when the client goes away.
      file.path = join(directory, `.${randomUUID()}.part`);
      const writeUnlessRemoved = async () => {
        const written = await write(file, file.path);
        if (removed.has(file)) await discard({ ...written, path: file.path });
        return written;
      };
      writeUnlessRemoved().then((written) => callback(null, written), callback);
    },
    _removeFile(_req, file, callback) {
      removed.add(file);
      discard(file).then(() => callback(null), callback);
    },
  };
}
