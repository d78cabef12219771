import type { ErrorEvent } from '@sentry/node';
import { maskText } from '../redact.ts';

/**
 * Masks, in the messages of an event, the secrets that libraries put there: user and password of a connection string,
 * query parameters that bear a secret's name, and authorization values.
 */
export function maskMessages(event: ErrorEvent): ErrorEvent {
  for (const exception of event.exception?.values ?? []) {
    if (exception.value !== undefined) exception.value = maskText(exception.value);
  }
  return event;
}
