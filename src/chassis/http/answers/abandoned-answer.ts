import type { ServerResponse } from 'node:http';
import type { RequestContext } from '../../context/request-context.ts';
import { RequestAbandonedException } from '../../errors/exceptions.ts';
import { LightError } from '../../errors/light-error.ts';
import type { CutReason } from '../../telemetry/metrics/connection-metrics.ts';

/**
 * How work ends after its client went away: a stream that the connection closed, one that was given the request's signal, a
 * file that express was sending, a write into a connection that is gone.
 */
const abortCodes = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ABORT_ERR',
  'ECONNABORTED',
  'EPIPE',
]);

/** With what the service ends a connection whose client is at fault, or was last in the way of others. */
export class ConnectionCutError extends LightError {
  override readonly name = 'ConnectionCutError';
  readonly reason: CutReason;

  constructor(reason: CutReason) {
    super(`The connection was cut (${reason})`, { stack: false });
    this.reason = reason;
  }
}

/**
 * The 499 for an error that ends the work of an abandoned request; undefined for any other error, which is a fault. A
 * stream that ends too early by itself is a fault, although it cuts the connection too.
 */
export function abandonedAnswer(
  error: unknown,
  { abortReason }: RequestContext,
  { req }: ServerResponse,
): RequestAbandonedException | undefined {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (abortReason !== undefined && code === 'ERR_HTTP_HEADERS_SENT') return abandoned(abortReason, error);
  if (!isAbort(error) || !hasLeft(req.socket)) return;
  return abandoned('The client went away before the answer was complete', error);
}

function isAbort(error: unknown): boolean {
  // Both ends of a pipeline may tell of it.
  if (error instanceof AggregateError) return error.errors.every(isAbort);
  if (error instanceof RequestAbandonedException) return true;
  const { code, name } = (error ?? {}) as NodeJS.ErrnoException;
  // An AbortError that `fetch` rejects with has a number for its code.
  return name === 'AbortError' || abortCodes.has(code ?? '');
}

/** A stream that fails destroys the connection too, but with an error of its own. */
function hasLeft({ readableEnded, destroyed, errored }: ServerResponse['req']['socket']): boolean {
  if (readableEnded || !errored) return readableEnded || destroyed;
  return errored instanceof ConnectionCutError || (errored as NodeJS.ErrnoException).syscall !== undefined;
}

function abandoned(reason: string, cause: unknown): RequestAbandonedException {
  return new RequestAbandonedException(reason, undefined, { cause });
}
