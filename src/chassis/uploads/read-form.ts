import type { Writable } from 'node:stream';
import type { Request, RequestHandler, Response } from 'express';
import type { Multer, Options } from 'multer';
import { findService } from '../context/current-service.ts';
import { clientKey, getRequestContext } from '../context/request-context.ts';
import type { ServiceUnavailableException } from '../errors/exceptions.ts';
import { tryAgain } from '../errors/try-again.ts';

/** Beside its one file a form may have 20 texts of 8 KB each, which are held in memory. */
const limits = { files: 1, fields: 20, fieldSize: 8_192, parts: 21 };
/** What the parser keeps of a form until it is taken, and the same of its file, in bytes. */
const buffers = { highWaterMark: 16_384, fileHwm: 16_384 };
/** Forms that are read, and how much of each has come, in bytes. */
const read = new WeakMap<Request, { readonly parser: Writable; received: number }>();

/** A parser of forms with one file, for `readForm`. @param maxBytes of the file */
export async function formParser(options: Options, maxBytes: number): Promise<Multer> {
  // Most services take no uploads, and their start need not load this.
  const { default: multer } = await import('multer');
  const streamHandler = (req: Request, parser: Writable) => {
    const form = { parser, received: 0 };
    read.set(req, form);
    req.on('data', (chunk: Buffer) => {
      form.received += chunk.length;
    });
    req.pipe(parser);
  };
  return multer({ ...options, ...buffers, streamHandler, limits: { ...limits, fileSize: maxBytes } } as Options);
}

/**
 * Reads a form with a parser of `formParser`.
 *
 * @throws ServiceUnavailableException when it has to give way to others, and what the parser raises
 */
export function readForm(receive: RequestHandler, req: Request, res: Response): Promise<void> {
  return new Promise((done, fail) => {
    const giveWay = () => {
      const refusal = tooManyForms();
      fail(refusal);
      // What of the file is on the disk goes with it, and its texts.
      read.get(req)?.parser.destroy(refusal);
      req.body = undefined;
      // The parser's own end waits for the rest of the form, which its client need never send.
      if (leave) setImmediate(leave);
    };
    const forms = findService()?.forms;
    const client = clientKey(getRequestContext()?.ipAddress);
    const leave = forms
      ? forms.enter({ client, received: () => read.get(req)?.received ?? 0, giveWay })
      : () => undefined;
    if (!leave) return fail(tooManyForms());
    receive(req, res, (error?: unknown) => {
      leave();
      if (error) fail(error);
      else done();
    });
  });
}

function tooManyForms(): ServiceUnavailableException {
  return tryAgain('Too many uploads are coming in; try again', { Connection: 'close' });
}
