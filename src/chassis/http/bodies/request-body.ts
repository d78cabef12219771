import type { IncomingMessage } from 'node:http';

/** Methods that come with a body; one of a type that the service does not read is refused. */
export const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Whether a request brings a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The type of a body without its parameters, in lower case; empty where the request gives none. */
export function mediaType({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** How the service reads bodies of a type, whatever the method; undefined for a type that it leaves to the routes. */
export function readingOf(type: string): 'json' | 'form' | undefined {
  if (type === 'application/json' || (type.startsWith('application/') && type.endsWith('+json'))) return 'json';
  return type === 'application/x-www-form-urlencoded' ? 'form' : undefined;
}
