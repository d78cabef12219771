import { ServiceUnavailableException } from './exceptions.ts';

/**
 * The refusal of what may succeed a second later: 503 with `Retry-After`, and without a stack, because its message explains
 * it. Budgets, queues and time limits refuse with it.
 *
 * @param message default: that of the class. In production no client sees it (spec.md: Errors, body rule 1)
 * @param headers more of the answer, such as `Connection: close` where the rest of a body is left unread; a `Retry-After`
 * among them takes the place of the second
 * @example throw tryAgain('Too many exports are under way; try again in a moment');
 */
export function tryAgain(message?: string, headers?: Readonly<Record<string, string>>): ServiceUnavailableException {
  const options = { headers: { 'Retry-After': '1', ...headers }, stack: false };
  return new ServiceUnavailableException(message, undefined, options);
}
