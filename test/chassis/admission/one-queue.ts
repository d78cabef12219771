import { ClientShares, type Standing } from '../../../src/chassis/admission/client-shares.ts';

/** Clients that are alike. Requests come at random, and any client sends the next one. */
export interface Crowd {
  clients: number;
  /** Requests of all of them together, a second. */
  perSecond: number;
  /** What each request costs. */
  cost: number;
}

/** For how long a client of each standing may wait, in milliseconds, as in `AdmissionGate` with a target of 500. */
const mostMs: Record<Standing, number> = { heavy: 250, even: 500, light: 5000 };
const endMs = 40_000;

/**
 * Has crowds send to a server that serves one request after the other and refuses as the gate does, in simulated time.
 *
 * @param perSecond what the server can serve, in the units of costs
 * @returns the part of each crowd's requests that was refused, and how long what came in the last half had to wait at most
 */
export function atOneQueue(perSecond: number, crowds: Record<string, Crowd>) {
  const random = seeded();
  const shares = new ClientShares();
  const sent = new Map(Object.keys(crowds).map((name) => [name, { asked: 0, refused: 0 }]));
  let [freeAt, longestMs] = [0, 0];
  for (const { name, at } of arrivals(crowds, random)) {
    const { clients, cost } = crowds[name] as Crowd;
    const client = `${name} ${Math.floor(random() * clients)}`;
    const count = sent.get(name) as { asked: number; refused: number };
    const waitMs = Math.max(0, freeAt - at);
    if (at > endMs / 2) longestMs = Math.max(longestMs, waitMs);
    count.asked += 1;
    if (waitMs > mostMs.heavy && waitMs > mostMs[shares.of(client, at)]) count.refused += 1;
    else {
      shares.charge(client, cost, at);
      freeAt = at + waitMs + (cost / perSecond) * 1000;
    }
  }
  const refused = Object.fromEntries([...sent].map(([name, count]) => [name, count.refused / count.asked]));
  return { refused, longestMs };
}

function arrivals(crowds: Record<string, Crowd>, random: () => number): { name: string; at: number }[] {
  return Object.entries(crowds)
    .flatMap(([name, { perSecond }]) =>
      Array.from({ length: (perSecond * endMs) / 1000 }, () => ({ name, at: random() * endMs })),
    )
    .sort((a, b) => a.at - b.at);
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function seeded(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
