import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import { clientKey } from '../../context/request-context.ts';
import { sendFailure } from '../answers/send-failure.ts';
import { requestContextOf } from '../pipeline/request-context-of.ts';
import { onClose } from '../pipeline/request-pipeline.ts';
import type { BodyBudget, HeldBody } from './body-budget.ts';
import { bytesBesideBody, tooManyBodies } from './read-body.ts';

/** What counts bodies. */
export type BodyCount = Pick<BodyBudget, 'hold' | 'release'>;

/** Node reads so much of a body ahead of who takes it: one read that fills its buffer nearly, and the next. */
const readAheadBytes = 131_072;
/** What a piece of a body takes beside its bytes until it is read: measured, on Node 24. */
const pieceBytes = 240;

/**
 * Counts a body that is left to the route while nobody reads it, such as that of an upload whose caller the guards look up:
 * what the connection has read of it is held all the same. One that has to give way is answered 503.
 */
export function holdUnread(req: Request, res: Response, budget: BodyBudget): void {
  const client = clientKey(requestContextOf(req).ipAddress);
  const body: HeldBody = { client, bytes: 0, refuse: () => refuse(req, res) };
  const read = req._read;
  req._read = function readOn(size) {
    req._read = read;
    budget.release(body);
    read.call(req, size);
  };
  onClose(res, () => budget.release(body));
  const length = Number(req.headers['content-length'] ?? readAheadBytes);
  budget.hold(body, bytesBesideBody(req) + Math.min(length, readAheadBytes));
}

/**
 * Counts what comes in of the body of a request that has not begun: nobody reads it yet, but the connection does.
 *
 * @param client whose it is, as `clientKey` gives it
 * @param refuse has it give way to others
 * @returns ends the count; to be called before the body is read
 */
export function holdWaiting(req: IncomingMessage, client: string, budget: BodyCount, refuse: () => void): () => void {
  const { push } = req;
  const end = () => {
    req.push = push;
    budget.release(body);
  };
  const giveWay = () => {
    end();
    refuse();
  };
  const body: HeldBody = { client, bytes: 0, refuse: giveWay };
  req.push = (chunk, encoding) => {
    if (chunk !== null) budget.hold(body, chunk.length + pieceBytes);
    return push.call(req, chunk, encoding);
  };
  // It may have waited for its turn on its connection.
  if (req.readableLength > 0) budget.hold(body, req.readableLength);
  return end;
}

function refuse(req: Request, res: Response): void {
  if (res.headersSent) return;
  const refusal = tooManyBodies();
  requestContextOf(req).abort(refusal.message);
  sendFailure(res, refusal, true);
}
