import type { IncomingMessage } from 'node:http';

/** Whether the address of a hop, 0 being the one that is connected, belongs to a proxy that is trusted. */
export type TrustProxy = (address: string, hop: number) => boolean;

/**
 * The address that a request comes from, as far as trusted proxies tell it: the same as `req.ip` of Express, for what sees
 * requests before Express does.
 */
export function clientAddress({ headers, socket }: IncomingMessage, isTrusted: TrustProxy): string | undefined {
  const forwarded = headers['x-forwarded-for'];
  let address = socket.remoteAddress;
  if (forwarded === undefined || address === undefined || !isTrusted(address, 0)) return address;
  const senders = String(forwarded)
    .split(',')
    .map((sender) => sender.trim())
    .filter((sender) => sender !== '');
  for (let hop = 0; senders.length > 0 && isTrusted(address, hop); hop += 1) address = senders.pop() as string;
  return address;
}
