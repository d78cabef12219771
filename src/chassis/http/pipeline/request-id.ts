import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const valid = /^[A-Za-z0-9._-]{1,128}$/;

/** The id that a request brings, if it is 1 to 128 characters of `[A-Za-z0-9._-]`, else a new one (spec.md: Other records). */
export function requestIdOf({ headers }: IncomingMessage): string {
  const inbound = headers['x-request-id'];
  return typeof inbound === 'string' && valid.test(inbound) ? inbound : randomUUID();
}
