/** Raised when the service cannot start; the message says what was expected, what was found and what to do. */
export class StartUpError extends Error {
  override readonly name = 'StartUpError';
}
