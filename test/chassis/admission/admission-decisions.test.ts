import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { oneAtATime, type Situation } from './gated-server.ts';

describe('the decision of AdmissionGate', () => {
  it('refuses nobody while no queue stands, however long the wait is for a moment', async () => {
    await using server = await oneAtATime({ waitMs: 5000 });
    expect([await server.status(), server.shed]).toEqual([200, []]);
  });

  it('refuses what waits beyond the target once a queue stands, and nothing else', async () => {
    const situation = { overloaded: true, waitMs: 500 };
    await using server = await oneAtATime(situation);
    expect(await server.status()).toBe(200);
    situation.waitMs = 501;
    expect([await server.status(), server.shed]).toEqual([503, ['wait']]);
  });

  it.each([
    ['by now', 0, 0, 'expired', 400],
    ['by a moment long ago', 200, -60_000, 'expired', 400],
    ['before its turn comes', 200, 150, 'deadline', 503],
  ] as const)(
    'refuses what must be answered %s, and lets in what has time',
    async (_when, standingMs, inMs, reason, status) => {
      await using server = await oneAtATime({ standingMs });
      const answered = (ms: number) => server.status({ 'x-request-deadline': String(Date.now() + ms) });
      expect([await answered(inMs), server.shed]).toEqual([status, [reason]]);
      expect([await answered(60_000), server.shed.length]).toEqual([200, 1]);
    },
  );

  it.each([
    ['heavy', 250, 'share'],
    ['even', 500, 'wait'],
    ['light', 5000, 'wait'],
  ] as const)('lets %s clients in up to a wait of %d ms when the target is 500', async (standing, waitMs, reason) => {
    const situation = { overloaded: true, waitMs, standings: { a: standing } };
    await using server = await oneAtATime(situation);
    expect(await server.status({ 'x-client': 'a' })).toBe(200);
    situation.waitMs += 1;
    expect([await server.status({ 'x-client': 'a' }), server.shed]).toEqual([503, [reason]]);
    // Who is refused goes on to be seen as who keeps the process busy.
    expect(server.charged).toEqual([
      ['a', 12],
      ['a', 6],
    ]);
  });

  it('refuses beyond the target what waits because connections of its own client do, and nobody else, whether or not a queue stands', async () => {
    const situation: Situation = { unreadMs: 500 };
    await using server = await oneAtATime(situation);
    expect(await server.status()).toBe(200);
    situation.unreadMs = 501;
    expect([await server.status(), server.shed]).toEqual([503, ['wait']]);
    Object.assign(situation, { overloaded: true, unreadMs: 300, waitMs: 201 });
    expect([await server.status(), server.shed]).toEqual([503, ['wait', 'wait']]);
    situation.unreadMs = 299;
    expect(await server.status()).toBe(200);
  });

  it('refuses clients that are not heavy for what they wait themselves, however long a queue of heavy ones is', async () => {
    const standings = { a: 'light', b: 'even', c: 'heavy' } as const;
    const situation: Situation = { overloaded: true, waitMs: 60_000, clientMs: 500, standings };
    await using server = await oneAtATime(situation);
    const statuses = async () => {
      const all = [];
      for (const client of ['a', 'b', 'c']) all.push(await server.status({ 'x-client': client }));
      return all;
    };
    expect([await statuses(), server.shed]).toEqual([[200, 200, 503], ['share']]);
    situation.clientMs = 501;
    expect([await statuses(), server.shed]).toEqual([
      [200, 503, 503],
      ['share', 'wait', 'share'],
    ]);
    // What its own connection waited is a wait of its own too.
    Object.assign(situation, { clientMs: 300, unreadMs: 201 });
    expect(await statuses()).toEqual([200, 503, 503]);
    // The whole queue is the longest that anybody waits for.
    Object.assign(situation, { waitMs: 260, clientMs: 900, unreadMs: 0 });
    expect(await statuses()).toEqual([200, 200, 503]);
  });

  it.each([
    ['heavy', 375],
    ['even', 750],
    ['light', 7500],
  ] as const)(
    'refuses a request of a %s client in its turn at overload, if that took more than %d ms',
    async (standing, waitedMs) => {
      const situation = { overloaded: true, waitedMs, standings: { a: standing } };
      await using server = await oneAtATime(situation);
      const statuses = [await server.status({ 'x-client': 'a' })];
      situation.waitedMs += 1;
      statuses.push(await server.status({ 'x-client': 'a' }));
      situation.overloaded = false;
      statuses.push(await server.status({ 'x-client': 'a' }));
      expect([statuses, server.shed, server.gate.atWork]).toEqual([[200, 503, 200], ['wait'], 0]);
    },
  );

  it('has bodies wait that are short, and reads long ones and those of unknown length at once', async () => {
    await using server = await oneAtATime({ turn: new Promise(() => undefined), maximum: 10 });
    const post = (body: RequestInit['body'], more: object = {}) =>
      fetch(server.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: body ?? null,
        ...more,
      });
    const long = JSON.stringify('x'.repeat(20_000));
    const chunks = new Blob(['{}']).stream();
    const signal = AbortSignal.timeout(200);
    // The parser of this server takes a hundred bytes.
    expect((await post(long)).status).toBe(413);
    expect((await post(chunks, { duplex: 'half' })).status).toBe(200);
    await expect(post('{}', { signal })).rejects.toThrow(/timeout/);
  });

  it('refuses a request in its turn whose deadline has passed while it waited', async () => {
    const { promise: turn, resolve } = Promise.withResolvers<void>();
    await using server = await oneAtATime({ waitedMs: 30, turn });
    const status = server.status({ 'x-request-deadline': String(Date.now() + 500) });
    setTimeout(resolve, 510);
    expect([await status, server.shed, server.gate.atWork]).toEqual([503, ['deadline'], 0]);
  });

  it('logs what it refuses by reason, once in ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const situation = { overloaded: true, waitMs: 700 };
    await using server = await oneAtATime(situation);
    for (let index = 0; index < 3; index += 1) expect(await server.status()).toBe(503);
    const expected = { msg: 'requests refused: overloaded', refused: { wait: 1 }, waitMs: 700, atWork: 0 };
    expect(server.lines).toEqual([expect.objectContaining(expected)]);
    vi.advanceTimersByTime(10_000);
    expect(server.lines.slice(1)).toEqual([expect.objectContaining({ ...expected, refused: { wait: 2 } })]);
  });
});
