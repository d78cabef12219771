import type { Environment } from '../../config/environment.ts';
import type { FileStore } from './file-store.ts';
import { localFiles } from './local-files.ts';

/** The store of files that the settings name; nothing is opened before the first file. */
export function openFiles(settings: Environment): FileStore {
  return localFiles(settings.LOCAL_UPLOAD_DIR, {
    perOwner: settings.UPLOAD_USER_BYTES,
    total: settings.UPLOAD_TOTAL_BYTES,
    minimumFree: settings.UPLOAD_MIN_FREE_BYTES,
  });
}
