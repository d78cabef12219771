import type { IncomingMessage, Server } from 'node:http';
import { BaseException } from '../../errors/exceptions.ts';

/** What a name or a value of a header field takes of memory beside its characters, in bytes: measured, on Node 24. */
export const fieldBytes = 72;

/** A request is served that has fewer header fields; Apache takes as many. */
const mostFields = 100;

/**
 * Has a server keep no more header fields of a request than it takes: hundreds of empty ones fit into Node's bound on their
 * bytes, and take 90 KB of memory where those of a browser take 4.
 */
export function boundFields(server: Server): void {
  server.maxHeadersCount = mostFields;
}

/** Whether a request has so many header fields that some may not have been kept. */
export function hasTooManyFields({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length >= mostFields * 2;
}

/** What such a request is refused with. */
export function tooManyFields(): BaseException {
  return new BaseException(`The request has ${mostFields} header fields or more`, 431);
}

/** With two Host headers a proxy and the service may read different ones (RFC 9112, 3.2). Node keeps the first. */
export function hasSecondHost({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}
