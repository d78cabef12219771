import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { currentService } from '../../context/current-service.ts';
import { contentDisposition } from '../../http/answers/content-disposition.ts';
import { askedRange, type ByteRange, byteRange } from './byte-range.ts';
import type { FileStore, StoredFile } from './file-store.ts';

/**
 * Answers with a stored file, for the routes that decide who may read private ones. A browser stores it and does not show
 * it, so nothing in it can run; no cache keeps it. A `Range` gets its part of the file, so that a download goes on where it
 * was cut; several at once get the whole.
 *
 * @param file as the service remembers it
 * @throws ServiceUnavailableException where many wait already, most of them for the same client address;
 * NotFoundException when it is not there; BaseException with status 416 for a range behind its end
 */
export async function sendFile(res: Response, files: FileStore, file: Omit<StoredFile, 'size'>): Promise<void> {
  const { type, originalName } = file;
  await currentService().filePlaces.enter(res);
  await sendStored(res, files, file, {
    'Content-Type': type,
    'Content-Disposition': contentDisposition(originalName),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    // As it is: a compressed part could not be put together with others.
    'Cache-Control': 'private, no-store, no-transform',
  });
}

/** Answers GET and HEAD with a file or the part of it that is asked for, and with these headers beside those of its length. */
export async function sendStored(
  res: Response,
  files: FileStore,
  { name, visibility }: Pick<StoredFile, 'name' | 'visibility'>,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const etag = etagOf(name);
  const isHead = res.req.method === 'HEAD';
  const asked = isHead ? undefined : askedRange(res.req.headers, etag);
  const whole = isHead || asked !== undefined ? await files.sizeOf(name, visibility) : undefined;
  const range = asked !== undefined && whole !== undefined ? byteRange(asked, whole) : undefined;
  const opened = isHead ? undefined : await files.open(name, visibility, range);
  try {
    for (const [header, value] of Object.entries(headers)) res.setHeader(header, value);
    res.setHeader('ETag', etag);
    res.setHeader('Accept-Ranges', 'bytes');
    res.setHeader('Content-Length', opened?.size ?? whole ?? 0);
    if (range && whole !== undefined) describePart(res, range, whole);
    if (opened) await pipeline(opened.stream, res);
    else res.end();
  } finally {
    // Where the time for the request was over meanwhile nothing has read it, and its file would stay open.
    opened?.stream.destroy();
  }
}

/** The content of a name never changes. */
export function etagOf(name: string): string {
  return `"${name}"`;
}

function describePart(res: Response, { start, end }: ByteRange, whole: number): void {
  res.statusCode = 206;
  res.setHeader('Content-Range', `bytes ${start}-${end}/${whole}`);
}
