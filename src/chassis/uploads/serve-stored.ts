import type { RequestHandler } from 'express';
import { type FileStore, typeOfName } from './files/file-store.ts';
import { etagOf, sendStored } from './files/send-file.ts';
import { protectionOf, readsOnly, refusal } from './serve-uploads.ts';

/**
 * Serves public files of a store that is no directory, as `serveUploads` does those of a directory.
 *
 * @throws NotFoundException for a missing file, MethodNotAllowedException for methods other than GET and HEAD
 */
export function serveStored(files: () => FileStore): RequestHandler {
  return readsOnly(async (req, res, next) => {
    const name = req.path.slice(1);
    try {
      const headers = {
        ...protectionOf(name),
        'Content-Type': typeOfName(name),
        // Names are made by the server and never used again.
        'Cache-Control': 'public, max-age=86400, immutable',
      };
      res.setHeader('ETag', etagOf(name));
      if (!req.fresh) return await sendStored(res, files(), { name, visibility: 'public' }, headers);
      await files().sizeOf(name, 'public');
      res.writeHead(304, { 'Cache-Control': headers['Cache-Control'] }).end();
    } catch (error) {
      next(refusal(error));
    }
  });
}
