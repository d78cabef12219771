import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { checkedName, type FileStore, type Visibility } from '../files/file-store.ts';
import { type AskedRoom, LentRoom } from '../lent-room.ts';
import { type UploadQuota, UploadUsage } from '../upload-usage.ts';
import type { Bucket } from './bucket.ts';
import { BucketLedger } from './bucket-ledger.ts';

/**
 * Files in a bucket: the public ones under `public/`, which the service serves at `/uploads`, the private ones under
 * `private/`. A file comes in by the disk, where its type is checked, and goes on to the bucket in pieces as it takes them.
 *
 * @param incomingDirectory where files are written before they are stored
 * @param makeRoom see `UploadUsage`
 */
export function s3Files(
  bucket: Bucket,
  incomingDirectory: string,
  quota: UploadQuota,
  makeRoom?: (asked: AskedRoom) => void,
): FileStore {
  const directory = resolve(incomingDirectory);
  const disk = new LentRoom();
  const usageOf = (visibility: Visibility) =>
    new UploadUsage(new BucketLedger(bucket, `${visibility}/`, directory), quota, { makeRoom, disk });
  const usage = { public: usageOf('public'), private: usageOf('private') };
  const keyOf = (name: string, visibility: Visibility) => `${visibility}/${checkedName(name)}`;
  return {
    incomingDirectory: directory,
    reserve: (visibility, owner, bytes) => usage[visibility].reserve(owner, bytes),
    put: (path, { name, visibility, size, type }) =>
      bucket.put(keyOf(name, visibility), createReadStream(path), { size, type }),
    sizeOf: async (name, visibility) => bucket.sizeOf(keyOf(name, visibility)),
    open: async (name, visibility, range) => bucket.get(keyOf(name, visibility), range),
    remove: async (name, visibility) => bucket.remove(keyOf(name, visibility)),
    urlOf: (name) => `/uploads/${checkedName(name)}`,
  };
}
