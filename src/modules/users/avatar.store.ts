import { basename } from 'node:path';

/** The pictures of users, among the public files of the service. */
export class AvatarStore {
  readonly #files: Slipway.Cradle['files'];
  readonly #logger: Slipway.Cradle['logger'];

  constructor({ files, logger }: Pick<Slipway.Cradle, 'files' | 'logger'>) {
    this.#files = files;
    this.#logger = logger;
  }

  /** Where clients find the picture of this name. */
  urlOf(fileName: string): string {
    return this.#files.urlOf(fileName);
  }

  /** Removes the picture behind a URL of `urlOf`. One that cannot be removed is logged: nobody refers to it any more. */
  async remove(url: string | null): Promise<void> {
    if (url === null) return;
    try {
      await this.#files.remove(basename(url), 'public');
    } catch (error) {
      this.#logger.warn({ err: error, url }, 'unused picture not removed');
    }
  }
}
