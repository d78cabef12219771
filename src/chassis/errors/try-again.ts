import { ServiceUnavailableException } from './exceptions.ts';

/**
 * The refusal of what may succeed a second later: 503 with `Retry-After`, and without a stack, because its message explains it.
 *
 * @param message default: that of the class
 * @param headers more of the answer, such as `Connection: close`
 */
export function tryAgain(message?: string, headers?: Readonly<Record<string, string>>): ServiceUnavailableException {
  const options = { headers: { 'Retry-After': '1', ...headers }, stack: false };
  return new ServiceUnavailableException(message, undefined, options);
}
