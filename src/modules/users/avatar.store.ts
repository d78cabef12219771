import { basename } from 'node:path';
import { removeUpload } from 'slipway';

/** The pictures of users, in the upload directory (LOCAL_UPLOAD_DIR). */
export class AvatarStore {
  readonly #directory: string;
  readonly #logger: Slipway.Cradle['logger'];

  constructor({ settings, logger }: Pick<Slipway.Cradle, 'settings' | 'logger'>) {
    this.#directory = settings.LOCAL_UPLOAD_DIR;
    this.#logger = logger;
  }

  /** Where clients find the picture of this name. */
  urlOf(fileName: string): string {
    return `/uploads/${fileName}`;
  }

  /** Removes the picture behind a URL of `urlOf`. One that cannot be removed is logged: nobody refers to it any more. */
  async remove(url: string | null): Promise<void> {
    if (url === null) return;
    try {
      await removeUpload(this.#directory, basename(url));
    } catch (error) {
      this.#logger.warn({ err: error, url }, 'unused picture not removed');
    }
  }
}
