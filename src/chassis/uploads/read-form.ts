import { AsyncResource } from 'node:async_hooks';
import type { Writable } from 'node:stream';
import type { Request, RequestHandler, Response } from 'express';
import type { Multer, Options } from 'multer';
import { findService } from '../context/current-service.ts';
import { currentClientKey, getRequestContext } from '../context/request-context.ts';
import { BadRequestException, type ServiceUnavailableException } from '../errors/exceptions.ts';
import { tryAgain } from '../errors/try-again.ts';
import { pieceCounter } from '../http/bodies/body-pieces.ts';
import { hasBody } from '../http/bodies/request-body.ts';
import { loopShare } from '../http/streams/loop-share.ts';
import type { Reservation } from './lent-room.ts';

/**
 * Beside its one file a form may have 20 texts of 8 KB each, which are held in memory. A name such as `tags[3]` makes a list,
 * which is as long as the name says, and `tags[3]` followed by `tags[x]` has every place of it looked at: four billion take
 * minutes. Names go as deep as the JSON of a body.
 */
const limits = {
  files: 1,
  fields: 20,
  fieldSize: 8_192,
  parts: 21,
  fieldArrayIndexLimit: 999,
  fieldNestingDepth: 50,
};
/**
 * What the parser keeps of a form until it is taken, and the same of its file, in bytes: more than the 65,536 that come of a
 * connection at once, so that the next come in while these are written. A form waits for half as many turns of the event loop.
 */
const buffers = { highWaterMark: 16_384, fileHwm: 65_537 };
/** What a form may have beside its file: its texts, and what stands before each of its parts. In bytes. */
const mostBeside = 524_288;

/**
 * A form is charged for each so many bytes, as they come, with so much: to receive a picture of two megabytes and to remove its
 * metadata keeps the process busy for 50 ms and more. It is still an ordinary request, of which a limit of uploads takes one
 * point.
 */
const chargedBytes = 65_536;
const costOfBytes = 3;

/**
 * What names its boundary may have so many characters: a boundary has 70 at most (RFC 2046, 5.1.1). Each small chunk that goes
 * on with a part of one is compared with all of that part, for which a boundary of 15 KB kept the event loop ten times as long.
 */
const longestType = 256;

/** A form that is read. */
interface Form {
  /** Undefined until it begins. */
  parser?: Writable;
  /** How much of it has come, in bytes. */
  received: number;
  /** Reads no further. */
  readonly end: (refusal: Error) => void;
  /** All of it has come, and it gives way to no other. */
  readonly leave: () => void;
}

const read = new WeakMap<Request, Form>();

/**
 * A parser of forms with one file, for `readForm`. Parts without a name and what stands around the parts is read and thrown
 * away, so that a form has a bound of its own.
 *
 * @param maxBytes of the file
 */
export async function formParser(options: Options, maxBytes: number): Promise<Multer> {
  // Most services take no uploads, and their start need not load this.
  const { default: multer } = await import('multer');
  const streamHandler = (req: Request, parser: Writable) => {
    const form = read.get(req) as Form;
    const most = maxBytes + mostBeside;
    form.parser = parser;
    takeInTurns(parser);
    parser.once('finish', form.leave);
    const countPiece = pieceCounter();
    // Events of the connection come outside of the request.
    const context = getRequestContext();
    req.on('data', (chunk: Buffer) => {
      const before = form.received;
      form.received += chunk.length;
      try {
        countPiece();
        const passed = Math.floor(form.received / chargedBytes) - Math.floor(before / chargedBytes);
        if (passed > 0) context?.charge?.(passed * costOfBytes);
      } catch (refusal) {
        form.end(refusal as Error);
      }
      if (before <= most && form.received > most) form.end(tooLong());
    });
    req.pipe(parser);
  };
  return multer({ ...options, ...buffers, streamHandler, limits: { ...limits, fileSize: maxBytes } } as Options);
}

/**
 * Has the pieces of a form wait for their turns among all long work. A hundred forms that are taken as fast as they come would
 * make each turn of the event loop longer for all, and a picture of two megabytes comes in thirty of them.
 */
function takeInTurns(parser: Writable): void {
  const write = parser._write.bind(parser);
  // Events of the connection come outside of the request, whose address has the turn.
  const turn = AsyncResource.bind(() => loopShare.turn());
  parser._write = (chunk, encoding, done) => void turn().then(() => write(chunk, encoding, done));
}

/**
 * Refuses a form that says it is longer than its file and texts may be, before anything of it is asked for.
 *
 * @param maxBytes of the file
 * @throws what the parser does for a file that is too long
 */
export function refuseLongForm({ headers }: Request, maxBytes: number): void {
  if (Number(headers['content-length']) > maxBytes + mostBeside) throw tooLong();
}

/** What the file of a form may take, in bytes: it is smaller than the form. */
export function largestFile(req: Request, maxBytes: number): number {
  const length = Number(req.headers['content-length'] ?? maxBytes);
  return length >= 0 && length < maxBytes ? length : maxBytes;
}

/**
 * Reads a form with a parser of `formParser`.
 *
 * @param room that is kept for its file
 * @throws BadRequestException for a boundary that is too long; Error where its client has gone; ServiceUnavailableException
 * when it has to give way to others, and what the parser raises; for a form that is longer than its file and texts may be
 * what it raises for the file
 */
export function readForm(receive: RequestHandler, req: Request, res: Response, room: Reservation): Promise<void> {
  return new Promise((done, fail) => {
    // Nothing more would come of its form, not even its end.
    if (req.destroyed && !req.readableEnded && hasBody(req))
      return fail(new Error('The client went away before its file was read'));
    const type = req.headers['content-type'] ?? '';
    if (type.length > longestType)
      return fail(
        new BadRequestException(`Expected a Content-Type of at most ${longestType} characters, found ${type.length}`),
      );
    const end = (refusal: Error) => {
      fail(refusal);
      // What of the file is on the disk goes with it, and its texts.
      form.parser?.destroy(refusal);
      req.body = undefined;
      // The parser's own end waits for the rest of the form, which its client need never send.
      if (leave) setImmediate(leave);
    };
    const form: Form = { received: 0, end, leave: () => leave?.() };
    const giveWay = () => end(tooManyForms());
    const forms = findService()?.forms;
    const leave = forms
      ? forms.enter({ client: currentClientKey(), received: () => form.received, giveWay, room })
      : () => undefined;
    if (!leave) return fail(tooManyForms());
    read.set(req, form);
    receive(req, res, (error?: unknown) => {
      leave();
      if (error) fail(error);
      else done();
    });
  });
}

/** Mostly it is the file that is too long. */
function tooLong(): Error {
  return Object.assign(new Error('The form is too long'), { code: 'LIMIT_FILE_SIZE' });
}

function tooManyForms(): ServiceUnavailableException {
  return tryAgain('Too many uploads are coming in; try again', { Connection: 'close' });
}
