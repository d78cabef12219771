import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { ClientConnections } from '../../../src/chassis/lifecycle/client-connections.ts';
import { DisplaceableConnections } from '../../../src/chassis/lifecycle/displaceable-connections.ts';
import { OpenSet } from '../../../src/chassis/lifecycle/drain.ts';

/** Counts how many connections were looked at. */
class LookedAt extends OpenSet<Socket> {
  looks = 0;

  override at(index: number): Socket {
    this.looks += 1;
    return super.at(index);
  }
}

/** Clients with one connection, two, and so on up to `most`, whose requests are all being worked on. */
function atWork(most: number) {
  const open = new LookedAt();
  const clients = new ClientConnections();
  for (let client = 1; client <= most; client += 1) {
    for (let connection = 0; connection < client; connection += 1) {
      const socket = { writableFinished: false, _httpMessage: { req: { complete: true }, headersSent: false } };
      open.add(socket as unknown as Socket);
      clients.add(socket as unknown as Socket, `client ${client}`);
    }
  }
  return { open, find: new DisplaceableConnections(open) };
}

it('looks for nothing again for a while where it found nothing, however many connections come', () => {
  const { open, find } = atWork(20);
  expect(find.find(20, 20)).toBeUndefined();
  const once = open.looks;
  for (let own = 20; own > 10; own -= 1) expect(find.find(own, 20)).toBeUndefined();
  expect(open.looks).toBe(once);
});

it('looks for clients with half as many connections all the same, and for those again with half of that', () => {
  const { open, find } = atWork(20);
  find.find(20, 20);
  const once = open.looks;
  for (let own = 20; own >= 0; own -= 1) find.find(own, 20);
  expect(open.looks).toBeGreaterThan(once);
  expect(open.looks).toBeLessThanOrEqual(once * 7);
});
