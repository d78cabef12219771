/** Raised when the service cannot start; the message says what was expected, what was found and what to do. */
export class StartUpError extends Error {
  override readonly name: string = 'StartUpError';
}

/** Raised by a start that was stopped by `close()`, after what it had opened is closed. */
export class StartStoppedError extends StartUpError {
  override readonly name = 'StartStoppedError';
}
