import type { Readable } from 'node:stream';
import { NotFoundException } from '../../errors/exceptions.ts';
import type { Reservation } from '../lent-room.ts';
import type { ByteRange } from './byte-range.ts';

/** Who may read a file: everybody who knows its URL, or only the callers that a route of the service admits. */
export type Visibility = 'public' | 'private';

/** A file that is stored. */
export interface StoredFile {
  /** Made by the server. */
  name: string;
  /** In bytes. */
  size: number;
  /** As the client declared it, and as the route takes it; that of an image is told by its content. */
  type: string;
  visibility: Visibility;
  /** What the client calls it, for people; never a path. */
  originalName: string;
}

/** Where uploaded files are: LOCAL_UPLOAD_DIR, or a bucket of S3. */
export interface FileStore {
  /** Where a file is written before it is stored; nothing is served from there. */
  readonly incomingDirectory: string;
  /** Reserves space for a file of at most this many bytes. @throws the error for missing space */
  reserve(visibility: Visibility, owner: string, bytes: number): Promise<Reservation>;
  /** Stores a file that was written in full, and takes it from where it is. */
  put(path: string, file: Omit<StoredFile, 'originalName'>): Promise<void>;
  /** The size of a file, in bytes. @throws NotFoundException when there is none of the name */
  sizeOf(name: string, visibility: Visibility): Promise<number>;
  /** The content of a file or of a part of it, and how many bytes that is. @throws NotFoundException when there is none of the name */
  open(name: string, visibility: Visibility, range?: ByteRange): Promise<{ stream: Readable; size: number }>;
  /** Removes a file; one that is gone already is no error. */
  remove(name: string, visibility: Visibility): Promise<void>;
  /** The URL of a public file, relative to the service where that serves it. */
  urlOf(name: string): string;
}

/** The extensions by which files of common types are known; all others are stored as `bin`. */
export const extensions: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/json': 'json',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'audio/mpeg': 'mp3',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'text/csv': 'csv',
  'text/plain': 'txt',
  'video/mp4': 'mp4',
};

const types: ReadonlyMap<string, string> = new Map(Object.entries(extensions).map(([type, name]) => [name, type]));

/** The type of a file by the extension of its name. */
export function typeOfName(name: string): string {
  return types.get(name.slice(name.lastIndexOf('.') + 1)) ?? 'application/octet-stream';
}

/** Longer ones no store would have; S3 says of them that they are too long, which would be an error of the service. */
const validName = /^[\w-]{1,128}\.\w{1,16}$/;

/** Refuses a name that the server did not make, such as a path. @throws NotFoundException */
export function checkedName(name: string): string {
  if (validName.test(name)) return name;
  throw noSuchFile();
}

/** What a file that is not there is answered with, whatever the reason. */
export function noSuchFile(cause?: unknown): NotFoundException {
  return new NotFoundException('No such file', undefined, { cause });
}
