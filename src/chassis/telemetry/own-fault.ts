import { InternalServerErrorException } from '../errors/exceptions.ts';

/** A field of an error, which may be a getter that raises another. */
export function fieldOfError(error: Error, name: 'name' | 'message' | 'stack' | 'cause' | 'errors'): unknown {
  try {
    return (error as unknown as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/**
 * What was thrown, where an exception says no more than that: the wrapper that the conversion made is left out. Sentry
 * takes its title from the outermost error, and a trace its first exception.
 */
export function ownFault(fault: Error): Error {
  const cause = fieldOfError(fault, 'cause');
  if (fault.constructor !== InternalServerErrorException || !(cause instanceof Error)) return fault;
  const message = fieldOfError(cause, 'message');
  return message === fieldOfError(fault, 'message') || message === '' ? cause : fault;
}
