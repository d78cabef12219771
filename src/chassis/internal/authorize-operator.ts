import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ForbiddenException, UnauthorizedException } from '../errors/exceptions.ts';

/** Exactly these: the sidecars of some service meshes pass on what they receive from another address of 127.0.0.0/8. */
const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/** A page whose site's name resolves to 127.0.0.1 can call this port, but its requests carry that name as their host. */
const ownHost = /^(?:localhost|[\d.]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/**
 * Lets operators change what the internal server shows: with `INTERNAL_TOKEN` callers that present it, without one those on
 * this machine or in this pod, which `kubectl exec` and `kubectl port-forward` are too. Other pods may only read.
 *
 * @throws UnauthorizedException without the token that is set; ForbiddenException for an address from elsewhere, or a host that
 * is not this machine's
 */
export function authorizeOperator(req: IncomingMessage, token: string | undefined): void {
  if (token !== undefined) {
    if (isSame(req.headers.authorization ?? '', `Bearer ${token}`)) return;
    throw new UnauthorizedException('Expected the INTERNAL_TOKEN as bearer token', undefined, {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  if (loopback.has(req.socket.remoteAddress ?? '') && ownHost.test(req.headers.host ?? '')) return;
  throw new ForbiddenException(
    'Expected a call from this machine to localhost, such as by kubectl port-forward, or set INTERNAL_TOKEN',
  );
}

/** Takes the same time wherever the texts differ. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
}
