import type { Response } from 'express';
import { contentDisposition } from '../../http/answers/content-disposition.ts';
import { pipeAnswer } from '../../http/streams/pipe-answer.ts';
import type { FileStore, StoredFile } from './file-store.ts';

/**
 * Answers with a stored file, for the routes that decide who may read private ones. A browser stores it and does not show
 * it, so nothing in it can run; no cache keeps it.
 *
 * @param file as the service remembers it
 * @throws NotFoundException when it is not there
 */
export async function sendFile(
  res: Response,
  files: FileStore,
  { name, type, visibility, originalName }: Omit<StoredFile, 'size'>,
): Promise<void> {
  const { stream, size } = await files.open(name, visibility);
  res.setHeader('Content-Type', type);
  res.setHeader('Content-Length', size);
  res.setHeader('Content-Disposition', contentDisposition(originalName));
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
  res.setHeader('Cache-Control', 'private, no-store');
  await pipeAnswer(stream, res);
}
