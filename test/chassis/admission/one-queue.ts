import { randomNumbers } from '../../../prisma/seed/random.ts';
import { ClientShares, refusedFrom } from '../../../src/chassis/admission/client-shares.ts';

/** Clients that are alike. Requests come at random, and any client sends the next one. */
interface Crowd {
  clients: number;
  /** Requests of all of them together, a second. */
  perSecond: number;
  /** What each request costs. */
  cost: number;
}

/** As `OVERLOAD_TARGET_MS` is by default. */
const targetMs = 500;
const endMs = 40_000;

/**
 * Has crowds send to a server that serves one request after the other and refuses as `AdmissionGate` does, in simulated time.
 *
 * @param perSecond what the server can serve, in the units of costs
 * @returns the part of each crowd's requests that was refused, and how long what came in the last half had to wait at most
 */
export function atOneQueue(perSecond: number, crowds: Record<string, Crowd>) {
  const random = randomNumbers(1);
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
    const isRefused = waitMs > targetMs * refusedFrom.heavy && waitMs > targetMs * refusedFrom[shares.of(client, at)];
    if (isRefused) count.refused += 1;
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
