import { join } from 'node:path';
import type { Request, RequestHandler } from 'express';
import { recheckCaller } from '../context/request-context.ts';
import { toException } from '../errors/convert-error.ts';
import {
  BadRequestException,
  BaseException,
  InternalServerErrorException,
  PayloadTooLargeException,
} from '../errors/exceptions.ts';
import { onRequestFailure, unlessStored } from '../http/answers/request-failure.ts';
import { requestContextOf } from '../http/pipeline/request-context-of.ts';
import type { FileStore } from './files/file-store.ts';
import { localFiles } from './files/local-files.ts';
import { type ImageType, imageExtensions } from './image-type.ts';
import type { Reservation } from './lent-room.ts';
import { formParser, largestFile, readForm, refuseLongForm } from './read-form.ts';
import { type HiddenFile, orStorageFailure, publishUpload, removeFile, uploadStorage } from './upload-storage.ts';
import type { UploadQuota } from './upload-usage.ts';

/** What a route takes. */
interface ReceiveUploadOptions {
  /** The form field that holds the file. */
  field: string;
  /** Size of the file at most, in bytes. */
  maxBytes: number;
  /** Pixels of the image at most, by the size that it announces: who shows it makes room for all, four bytes each. Default: 50 million. */
  maxPixels?: number;
  /** Where the file is stored: `files` of the cradle. Either this or `directory`. */
  files?: FileStore;
  /** A directory of its own in their place; made when missing. */
  directory?: string;
  /** How much the uploads of `directory` may take. Default: 20 MiB of one owner, 10 GiB in all, 100 MiB left free. */
  quota?: UploadQuota;
  /** Whose quota a file counts for. Default: the authenticated user, else the address of the client. */
  owner?: (request: Request) => string;
  /** Which types of image are taken, by content and not by name. Default: PNG, JPEG, WebP and GIF. */
  types?: readonly ImageType[];
}

/** An image that was received and stored. */
export interface UploadedFile {
  /** Made by the server; the file is served at `/uploads/<name>`. */
  name: string;
  /** In bytes. */
  size: number;
  type: ImageType;
}

const uploads = new WeakMap<Request, UploadedFile>();
const defaultQuota: UploadQuota = { perOwner: 20_971_520, total: 10_737_418_240, minimumFree: 104_857_600 };
/** What cameras of telephones make; 200 MB for a browser. */
const defaultPixels = 50_000_000;
const allTypes: readonly ImageType[] = Object.keys(imageExtensions) as ImageType[];

/**
 * Receives one image of a multipart form; the handler after it finds it by `uploadedFile(req)`. A file appears in the
 * directory whole or not at all, without its metadata, and is removed again when the request fails later on.
 *
 * @throws BadRequestException for a missing file or a malformed form (spec.md: Errors, body rule 4) and, with message
 * `Failed to upload <field>`, when it cannot be stored (body rule 6); PayloadTooLargeException above `maxBytes`
 * or `maxPixels` and where the owner has no room left; UnsupportedMediaTypeException for another content and for a
 * damaged image; InsufficientStorageException where nobody has room left
 */
export function receiveUpload(options: ReceiveUploadOptions): RequestHandler {
  const { field, maxBytes, types = allTypes, maxPixels = defaultPixels } = options;
  const files = storeOf(options);
  const storage = { field, types, files, maxPixels };
  const ownerOf = options.owner ?? uploaderOf;
  let receive: RequestHandler | undefined;
  async function open(): Promise<RequestHandler> {
    return (await formParser({ storage: uploadStorage(storage) }, maxBytes)).single(field);
  }
  return async function receiveFile(req, res, next) {
    let reservation: Reservation | undefined;
    try {
      refuseLongForm(req, maxBytes);
      receive ??= await open();
      reservation = await orStorageFailure(field, files.reserve('public', ownerOf(req), largestFile(req, maxBytes)));
      await readForm(receive, req, res, reservation);
      if (req.file === undefined) throw missingFile(field);
      const hidden = req.file as unknown as HiddenFile;
      const { name, size } = await publishUpload(hidden, reservation.ownerKey, storage);
      reservation.store(name, size);
      onRequestFailure(
        req,
        unlessStored(() => files.remove(name, 'public')),
      );
      uploads.set(req, { name, size, type: hidden.imageType });
      // A session or a role may have ended while the file came in.
      await recheckCaller();
    } catch (error) {
      return next(uploadException(error, field, maxBytes));
    } finally {
      reservation?.release();
    }
    next();
  };
}

function storeOf({ files, directory, quota = defaultQuota }: ReceiveUploadOptions): FileStore {
  if (files) return files;
  if (directory !== undefined) return localFiles(directory, quota);
  throw new Error('Expected of receiveUpload where files are stored; pass files, which the cradle has, or directory.');
}

function uploaderOf(req: Request): string {
  const { userId, ipAddress } = requestContextOf(req);
  return userId === undefined ? `address ${ipAddress}` : `user ${userId}`;
}

/** The image that `receiveUpload` stored for this request. */
export function uploadedFile(req: Request): UploadedFile {
  const upload = uploads.get(req);
  if (upload) return upload;
  throw new InternalServerErrorException(
    `Expected receiveUpload() before this handler, found none; add it to the route ${req.method} ${req.path}`,
  );
}

/** Removes a stored image, such as one that another has replaced; a name with a path in it is refused. */
export async function removeUpload(directory: string, name: string): Promise<void> {
  if (!/^[\w-]+\.\w+$/.test(name)) {
    throw new InternalServerErrorException(`Expected the name of an uploaded file, found ${JSON.stringify(name)}`);
  }
  await removeFile(join(directory, name));
}

function missingFile(field: string): BadRequestException {
  return new BadRequestException(`Expected a file in field "${field}" of a multipart/form-data body, found none`);
}

/** Everything that is neither ours nor multer's comes from the parser of the form or from the connection. */
function uploadException(error: unknown, field: string, maxBytes: number): BaseException {
  if (error instanceof BaseException) return error;
  if (!(error instanceof Error)) return toException(error);
  if ((error as { code?: unknown }).code === 'LIMIT_FILE_SIZE') {
    const message = `The file in field "${field}" is larger than ${maxBytes} bytes`;
    return new PayloadTooLargeException(message, undefined, { cause: error });
  }
  if (error.name === 'MulterError') return toException(error);
  return new BadRequestException('The multipart body is malformed or incomplete', undefined, { cause: error });
}
