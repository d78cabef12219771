import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Request, RequestHandler } from 'express';
import type { StorageEngine } from 'multer';
import { recheckCaller } from '../../context/request-context.ts';
import {
  BadRequestException,
  BaseException,
  InternalServerErrorException,
  PayloadTooLargeException,
  UnsupportedMediaTypeException,
} from '../../errors/exceptions.ts';
import { withoutBidi } from '../../http/answers/content-disposition.ts';
import { onRequestFailure, unlessStored } from '../../http/answers/request-failure.ts';
import { requestContextOf } from '../../http/pipeline/request-context-of.ts';
import { hiddenStorage } from '../hidden-storage.ts';
import { imageExtensions, imageHeadLength, imageType } from '../image-type.ts';
import type { Reservation } from '../lent-room.ts';
import { formParser, largestFile, readForm, refuseLongForm } from '../read-form.ts';
import { orStorageFailure, removeFile } from '../upload-storage.ts';
import { extensions, type FileStore, type StoredFile, type Visibility } from './file-store.ts';

/** What a route takes. */
export interface ReceiveFileOptions {
  /** Where files are stored: `files` of the cradle. */
  files: FileStore;
  /** The form field that holds the file. */
  field: string;
  /** Size of the file at most, in bytes. */
  maxBytes: number;
  /** Media types that are taken, e.g. `['application/pdf']`. Default: all. */
  types?: readonly string[] | undefined;
  /** Default `private`: only a route of the service gives it, by `sendFile`. */
  visibility?: Visibility;
}

const received = new WeakMap<Request, StoredFile>();

/**
 * Receives one file of a multipart form, of any type; the handler after it finds it by `receivedFile(req)`. It is stored
 * whole or not at all, as it came, and removed again when the request fails later on. For pictures that everybody sees there
 * is `receiveUpload`, which also removes their metadata.
 *
 * @throws BadRequestException for a missing file or a malformed form; PayloadTooLargeException above `maxBytes`, and where the
 * owner has no room left; UnsupportedMediaTypeException for another type, and an image that is none;
 * InsufficientStorageException where nobody has room left
 */
export function receiveFile({
  files,
  field,
  maxBytes,
  types,
  visibility = 'private',
}: ReceiveFileOptions): RequestHandler {
  let receive: RequestHandler | undefined;
  async function open(): Promise<RequestHandler> {
    const storage = incomingStorage({ files, field, types });
    // Browsers write file names in UTF-8.
    return (await formParser({ storage, defParamCharset: 'utf8' }, maxBytes)).single(field);
  }
  return async function receiveAnyFile(req, res, next) {
    let reservation: Reservation | undefined;
    try {
      refuseLongForm(req, maxBytes);
      receive ??= await open();
      reservation = await orStorageFailure(field, files.reserve(visibility, ownerOf(req), largestFile(req, maxBytes)));
      await readForm(receive, req, res, reservation);
      if (req.file === undefined) throw new BadRequestException(`Expected a file in field "${field}", found none`);
      const { path, size, mimetype: type, originalname } = req.file;
      const name = `${reservation.ownerKey}-${randomUUID()}.${extensions[type] ?? 'bin'}`;
      const file = { name, size, type, visibility };
      await putAway(path, orStorageFailure(field, files.put(path, file)));
      reservation.store(name, size);
      onRequestFailure(
        req,
        unlessStored(() => files.remove(name, visibility)),
      );
      received.set(req, { ...file, originalName: safeName(originalname) });
      // A session or a role may have ended while the file came in.
      await recheckCaller();
    } catch (error) {
      return next(fileException(error, field, maxBytes));
    } finally {
      reservation?.release();
    }
    next();
  };
}

/** Nothing is left of what came in once it is stored, or could not be. */
async function putAway(path: string, storing: Promise<void>): Promise<void> {
  try {
    await storing;
  } finally {
    await removeFile(path);
  }
}

/** The file that `receiveFile` stored for this request. */
export function receivedFile(req: Request): StoredFile {
  const file = received.get(req);
  if (file) return file;
  throw new InternalServerErrorException(
    `Expected receiveFile() before this handler, found none; add it to the route ${req.method} ${req.path}`,
  );
}

function ownerOf(req: Request): string {
  const { userId, ipAddress } = requestContextOf(req);
  return userId === undefined ? `address ${ipAddress}` : `user ${userId}`;
}

/** Writes what comes in under a hidden name, which an hour later is taken for left behind. */
const incomingStorage = ({
  files,
  field,
  types,
}: Pick<ReceiveFileOptions, 'files' | 'field' | 'types'>): StorageEngine =>
  hiddenStorage({
    directory: files.incomingDirectory,
    async write({ stream, mimetype }, path) {
      const type = mimetype.toLowerCase();
      if (types && !types.includes(type)) throw otherType(type, types, field);
      try {
        await mkdir(files.incomingDirectory, { recursive: true });
        const target = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
        await orStorageFailure(field, pipeline(stream, target));
        await refuseFalseImage(path, type, field);
        return { path, size: target.bytesWritten, mimetype: type };
      } catch (failure) {
        // multer removes what was stored, and not what failed on the way.
        await removeFile(path);
        throw failure;
      }
    },
    discard: ({ path }) => removeFile(path),
  });

/** A type that browsers show has to be told by the content. */
async function refuseFalseImage(path: string, type: string, field: string): Promise<void> {
  if (!(type in imageExtensions)) return;
  const handle = await open(path, 'r');
  try {
    const { buffer } = await handle.read({ buffer: Buffer.alloc(imageHeadLength) });
    const found = imageType(buffer);
    if (found !== type) throw otherType(found ?? 'other content', [type], field);
  } finally {
    await handle.close();
  }
}

function otherType(found: string, types: readonly string[], field: string): UnsupportedMediaTypeException {
  const text = JSON.stringify(found.slice(0, 100));
  return new UnsupportedMediaTypeException(`Expected ${types.join(', ')} in field "${field}", found ${text}`);
}

/** The last part of what the client calls it, without control characters and what would have it read from right to left. */
function safeName(name: string): string {
  return withoutBidi(basename(name.replaceAll('\\', '/')))
    .replaceAll(/\p{Cc}/gu, '')
    .slice(0, 255)
    .toWellFormed();
}

function fileException(error: unknown, field: string, maxBytes: number): unknown {
  if (error instanceof BaseException || !(error instanceof Error)) return error;
  if ((error as { code?: unknown }).code === 'LIMIT_FILE_SIZE') {
    const message = `The file in field "${field}" is larger than ${maxBytes} bytes`;
    return new PayloadTooLargeException(message, undefined, { cause: error });
  }
  if (error.name === 'MulterError') return error;
  return new BadRequestException('The multipart body is malformed or incomplete', undefined, { cause: error });
}
