import type { Environment } from '../config/environment.ts';
import type { ComingForms } from './coming-forms.ts';
import type { FileStore } from './files/file-store.ts';
import { localFiles } from './files/local-files.ts';
import type { AskedRoom } from './lent-room.ts';
import type { BucketWatch } from './s3/bucket.ts';

/** The files of a service. */
interface OpenedFiles {
  readonly store: FileStore;
  /** Asks the bucket whether it takes the settings; undefined where files are in a directory. */
  readonly check?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * The store of files that the settings name: the bucket of UPLOAD_S3_BUCKET, else LOCAL_UPLOAD_DIR. Nothing is opened
 * before the first file; what speaks to S3 is loaded only where a bucket is set.
 *
 * @param forms those by which files come in, of which some give way where there is no room for others. Default: none
 * @throws Error where a bucket is set and its package is not installed
 */
export async function openFiles(
  settings: Environment,
  watch: BucketWatch,
  forms?: Pick<ComingForms, 'makeRoom'>,
): Promise<OpenedFiles> {
  const { LOCAL_UPLOAD_DIR: directory, UPLOAD_S3_BUCKET: name } = settings;
  const quota = {
    perOwner: settings.UPLOAD_USER_BYTES,
    total: settings.UPLOAD_TOTAL_BYTES,
    minimumFree: settings.UPLOAD_MIN_FREE_BYTES,
  };
  const makeRoom = (asked: AskedRoom) => forms?.makeRoom(asked);
  if (name === undefined) return { store: localFiles(directory, quota, makeRoom), close: async () => undefined };
  const [sdk, { Bucket }, { s3Files }] = await Promise.all([
    importSdk(),
    import('./s3/bucket.ts'),
    import('./s3/s3-files.ts'),
  ]);
  const bucket = new Bucket(sdk, settings, watch);
  return {
    store: s3Files(bucket, directory, quota, makeRoom),
    check: () => bucket.check(),
    close: () => bucket.close(),
  };
}

async function importSdk(): Promise<typeof import('@aws-sdk/client-s3')> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (error) {
    if (!isMissingModule(error)) throw error;
    throw new Error(
      'UPLOAD_S3_BUCKET is set, and the package @aws-sdk/client-s3 is not installed; run npm install @aws-sdk/client-s3.',
      { cause: error },
    );
  }
}

/** An import fails with the one, and in the build, where it is required, with the other. */
function isMissingModule(error: unknown): boolean {
  return ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(String((error as NodeJS.ErrnoException).code));
}
