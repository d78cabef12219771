import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import express, { type RequestHandler } from 'express';
import { toException } from '../errors/convert-error.ts';
import { type BaseException, MethodNotAllowedException, NotFoundException } from '../errors/exceptions.ts';
import { pacedReads } from './files/paced-reads.ts';

/** Where uploaded files are. */
interface ServeUploadsOptions {
  directory: string;
}

type StaticOptions = Parameters<typeof express.static>[1] & { fs: typeof pacedReads };

/** A path has no more characters than this: reading thousands of `../` takes longer than most answers. */
const longestPath = 1_024;

/**
 * Serves uploaded files (spec.md: Other fixed endpoints); to be mounted at `/uploads`. What users uploaded cannot run
 * anything in a browser: types are not guessed and the content is sandboxed.
 *
 * @throws NotFoundException for a missing file, for names that begin with a dot and for paths that leave the directory,
 * by a symbolic link too, or are longer than any of a file
 * @throws MethodNotAllowedException for methods other than GET and HEAD
 */
export function serveUploads({ directory }: ServeUploadsOptions): RequestHandler {
  const options: StaticOptions = {
    // Handed on to the stream of the file.
    fs: pacedReads,
    dotfiles: 'ignore',
    fallthrough: false,
    index: false,
    redirect: false,
    // Names are made by the server and never used again.
    immutable: true,
    maxAge: '1d',
    setHeaders: (res, path) => res.setHeaders(new Map(Object.entries(protectionOf(path)))),
  };
  const serve = express.static(directory, options);
  return readsOnly((req, res, next) => {
    if (req.path.length > longestPath) return next(missing());
    const done = (error?: unknown) => next(refusal(error));
    staysInside(directory, req.path).then((stays) => (stays ? serve(req, res, done) : next(missing())), done);
  });
}

/** Answers GET and HEAD, and refuses what would change a file. */
export function readsOnly(serve: RequestHandler): RequestHandler {
  return function serveUpload(req, res, next) {
    if (req.method === 'OPTIONS') return next();
    if (req.method === 'GET' || req.method === 'HEAD') return serve(req, res, next);
    const message = `Uploaded files are only read, found ${req.method}`;
    next(new MethodNotAllowedException(message, undefined, { headers: { Allow: 'GET, HEAD' } }));
  };
}

/** What browsers show; all else they store. */
const isImage = /\.(?:png|jpg|webp|gif)$/;

/** Front ends of other origins show these files, so helmet's same-origin policy is off for them. */
export function protectionOf(path: string): Readonly<Record<string, string>> {
  return {
    ...(!isImage.test(path) && { 'Content-Disposition': 'attachment' }),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  };
}

/**
 * Whether a path names a file of the directory, which may be a link itself. express.static would follow links to
 * anywhere, and answers 500 to those that lead nowhere.
 */
async function staysInside(directory: string, path: string): Promise<boolean> {
  // Malformed paths are told as such by express.static.
  if (path.includes('%00')) return true;
  try {
    const [root, file] = await Promise.all([realpath(directory), realpath(join(directory, decodeURIComponent(path)))]);
    return file.startsWith(root + sep);
  } catch (error) {
    return error instanceof URIError;
  }
}

function missing(cause?: unknown): NotFoundException {
  return new NotFoundException('No such uploaded file', undefined, { cause });
}

/** A refused path and a missing file look the same. */
export function refusal(error: unknown): BaseException {
  const exception = toException(error);
  if (exception.statusCode !== 403 && exception.statusCode !== 404) return exception;
  return missing(error);
}
