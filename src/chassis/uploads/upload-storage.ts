import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { StorageEngine } from 'multer';
import { FewAtOnce } from '../admission/few-at-once.ts';
import {
  BadRequestException,
  BaseException,
  PayloadTooLargeException,
  UnsupportedMediaTypeException,
} from '../errors/exceptions.ts';
import { loopShare } from '../http/streams/loop-share.ts';
import type { FileStore } from './files/file-store.ts';
import { hiddenStorage } from './hidden-storage.ts';
import { imageSize } from './image-size.ts';
import { type ImageType, imageExtensions, imageHeadLength, imageType } from './image-type.ts';
import { stripMetadata } from './strip-metadata.ts';

const hiddenName = /^\.[\da-f-]{36}\.part$/;
const abandonedMs = 3_600_000;
/** Images that are in memory as a whole, to be freed of their metadata: each takes two to three times its size. */
const inMemory = new FewAtOnce(2);
/** One that is shorter waits for none of the others: it takes less memory than its connection does. In bytes. */
const shortImage = 65_536;

/** What the storage needs to know of an upload. */
interface UploadStorageOptions {
  field: string;
  files: FileStore;
  types: readonly ImageType[];
  maxPixels: number;
}

/** A file that was written in full under a hidden name, and may not be on the disk yet. */
export interface HiddenFile {
  path: string;
  /** Open for reading and writing, so that nothing has to be opened again. */
  handle: FileHandle;
  size: number;
  imageType: ImageType;
}

/** A storage of multer for images, whose type is checked before the first byte is written. What fails half-way is removed. */
export const uploadStorage = (options: UploadStorageOptions): StorageEngine =>
  hiddenStorage({
    directory: options.files.incomingDirectory,
    write: ({ stream }, path) => writeHidden(stream, path, options),
    discard,
  });

/**
 * Removes the metadata of a hidden file and makes it visible under a random name with the extension of its type; gives the
 * name and what is left of its size.
 *
 * @param ownerKey what the name begins with, so that the files of one owner can be counted
 * @throws UnsupportedMediaTypeException for an image that is damaged; PayloadTooLargeException for one of more pixels than
 * `maxPixels`
 */
export async function publishUpload(
  file: HiddenFile,
  ownerKey: string,
  { field, files, maxPixels }: UploadStorageOptions,
): Promise<{ name: string; size: number }> {
  const name = `${ownerKey}-${randomUUID()}.${imageExtensions[file.imageType]}`;
  try {
    const work = () => removeMetadata(file, field, maxPixels);
    const turns = Math.ceil(file.size / shortImage);
    const size = turns > 1 ? await inMemory.run(work, { turns }) : await work();
    await orStorageFailure(field, finish(file.handle));
    const stored = { name, size, type: file.imageType, visibility: 'public' as const };
    await orStorageFailure(field, files.put(file.path, stored));
    return { name, size };
  } finally {
    await discard(file);
  }
}

/** Gives the size of what is left. */
async function removeMetadata(
  { handle, size, imageType }: HiddenFile,
  field: string,
  maxPixels: number,
): Promise<number> {
  const image = await orStorageFailure(field, contentOf(handle, size));
  await loopShare.turn();
  const stripped = stripMetadata(image, imageType);
  if (!stripped) {
    throw new UnsupportedMediaTypeException(`Expected a whole image in field "${field}", found a damaged ${imageType}`);
  }
  const { width, height } = imageSize(stripped, imageType) ?? { width: 0, height: 0 };
  if (width * height > maxPixels) {
    throw new PayloadTooLargeException(
      `Expected at most ${maxPixels} pixels in field "${field}", found ${width} x ${height}`,
    );
  }
  if (!stripped.equals(image)) await orStorageFailure(field, replaceContent(handle, stripped));
  return stripped.length;
}

/** In one piece: each turn of a busy event loop may take a tenth of a second, and others wait for the memory. */
async function contentOf(handle: FileHandle, size: number): Promise<Buffer> {
  const content = Buffer.alloc(size);
  for (let read = 0; read < size; ) {
    const { bytesRead } = await handle.read(content, read, size - read, read);
    if (bytesRead === 0) throw new Error(`Expected ${size} bytes of a file, found ${read}`);
    read += bytesRead;
  }
  return content;
}

async function replaceContent(handle: FileHandle, content: Buffer): Promise<void> {
  for (let written = 0; written < content.length; ) {
    const { bytesWritten } = await handle.write(content, written, content.length - written, written);
    written += bytesWritten;
  }
  await handle.truncate(content.length);
}

/** Removes a file; one that is gone already is no error. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Whether a file was left half written by a process that was killed; an hour later no upload is still under way. */
export function isLeftBehind(name: string, mtimeMs: number): boolean {
  return hiddenName.test(name) && mtimeMs < Date.now() - abandonedMs;
}

/** Takes a directory that nobody has made yet for an empty one. */
export function emptyWhenMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

async function writeHidden(stream: Readable, path: string, options: UploadStorageOptions): Promise<HiddenFile> {
  let handle: FileHandle | undefined;
  let head: Buffer = Buffer.alloc(0);
  let size = 0;
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (handle) {
        await orStorageFailure(options.field, handle.appendFile(chunk));
        continue;
      }
      head = Buffer.concat([head, chunk]);
      if (head.length < imageHeadLength) continue;
      acceptedType(head, options);
      handle = await orStorageFailure(options.field, create(path, options.files.incomingDirectory));
      await orStorageFailure(options.field, handle.appendFile(head));
    }
    const imageType = acceptedType(head, options);
    // It has a head, so it was created.
    return { path, handle: handle as FileHandle, size, imageType };
  } catch (failure) {
    stream.resume();
    if (handle) await discard({ path, handle });
    throw failure;
  }
}

function acceptedType(head: Buffer, { field, types }: UploadStorageOptions): ImageType {
  const type = head.length < imageHeadLength ? undefined : imageType(head);
  if (type && types.includes(type)) return type;
  throw new UnsupportedMediaTypeException(
    `Expected an image of type ${types.join(', ')} in field "${field}", found ${type ?? 'other content'}`,
  );
}

function create(path: string, directory: string): Promise<FileHandle> {
  return inDirectory(directory, () => open(path, 'wx+', 0o644));
}

/** Writes into a directory, which is made where it is missing. */
export async function inDirectory<T>(directory: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(directory, { recursive: true });
    return write();
  }
}

/** On the disk before its name is: a crash leaves a whole file or none. */
async function finish(handle: FileHandle): Promise<void> {
  await handle.sync();
  await handle.close();
}

/** Closing a file that is closed already does nothing. */
async function discard({ path, handle }: { path: string; handle?: FileHandle }): Promise<void> {
  await handle?.close();
  await removeFile(path);
}

/** A failure of the disk as spec.md has it (Errors, body rule 6); the path on the server stays out of the details. */
export async function orStorageFailure<T>(field: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof BaseException) throw cause;
    const reason = cause instanceof Error ? cause.message.split(',', 1)[0] : String(cause);
    throw new BadRequestException(`Failed to upload ${field}`, { cause: reason }, { cause });
  }
}
