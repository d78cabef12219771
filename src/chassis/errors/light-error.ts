/** What an error is made of beside its message. */
interface LightErrorOptions {
  /** The underlying error. */
  cause?: unknown;
  /** Whether the error knows where it was made. Default true. */
  stack?: boolean;
}

/**
 * An error that may go without a stack. To capture one costs about as much as to log a line, and where the chassis answers
 * what a client sent, it tells nothing: the message and the request do.
 */
export class LightError extends Error {
  constructor(message: string, { cause, stack = true }: LightErrorOptions = {}) {
    const { stackTraceLimit } = Error;
    if (!stack) Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
  }
}
