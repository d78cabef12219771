import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A charge as the payment provider of the sample tells it. */
interface Charge {
  readonly reference: string;
  readonly amount: number;
  readonly status: 'succeeded';
}

/**
 * Starts a payment provider that takes every charge, once for each reference, to be ended with `opened`; gives its URL.
 *
 * @param at where it listens. Default: a free port of this machine
 */
export async function startPaymentProvider(
  opened: AsyncDisposableStack,
  at = { host: '127.0.0.1', port: 0 },
): Promise<string> {
  const charges = new Map<string, Charge>();
  const server = createServer(async (incoming, outgoing) => {
    const answer = (status: number, body: object) =>
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (incoming.method === 'GET') {
      const known = charges.get(incoming.url?.split('/').at(-1) ?? '');
      return void (known ? answer(200, known) : answer(404, {}));
    }
    const { reference, amount } = (await json(incoming)) as Charge;
    const charge = charges.get(reference) ?? { reference, amount, status: 'succeeded' };
    charges.set(reference, charge);
    answer(201, charge);
  }).listen(at.port, at.host);
  await once(server, 'listening');
  opened.defer(() => server.close().closeAllConnections());
  return `http://${at.host}:${(server.address() as AddressInfo).port}`;
}
