import { describe, expect, it } from 'vitest';
import { ClientShares, ClientStandings } from '../../../src/chassis/admission/client-shares.ts';

/** Clients that have asked for work of a cost, and had so much of the database for it. */
function standingsOf(clients: Record<string, { asked: number; hadMs: number }>) {
  const now = performance.now();
  const shares = new ClientShares();
  const standings = new ClientStandings(shares);
  for (const [client, { asked, hadMs }] of Object.entries(clients)) {
    shares.charge(client, asked, now);
    standings.had(client, hadMs);
  }
  return Object.keys(clients).map((client) => standings.of(client, performance.now()));
}

describe('ClientStandings', () => {
  it('knows who has most of the database by what it had, where all have asked for as much by the estimates', () => {
    const quiet = { asked: 300, hadMs: 20 };
    expect(standingsOf({ attacker: { asked: 300, hadMs: 2000 }, a: quiet, b: quiet })).toEqual([
      'heavy',
      'light',
      'light',
    ]);
  });

  it('finds nobody heavy for the little that anybody had of a database with little to do', () => {
    const quiet = { asked: 300, hadMs: 1 };
    expect(standingsOf({ reader: { asked: 300, hadMs: 100 }, a: quiet, b: quiet })).toEqual(['even', 'even', 'even']);
  });

  it('knows who has asked for most as heavy, whatever it had, and beside it nobody as light who had most', () => {
    expect(
      standingsOf({
        flood: { asked: 9000, hadMs: 0 },
        reader: { asked: 100, hadMs: 2000 },
        other: { asked: 100, hadMs: 10 },
      }),
    ).toEqual(['heavy', 'even', 'light']);
  });
});
