/** Arguments that a command does not take; the process ends with code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
