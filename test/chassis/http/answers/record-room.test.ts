import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { ServiceUnavailableException } from '../../../../src/chassis/errors/exceptions.ts';
import { RecordRoom } from '../../../../src/chassis/http/answers/record-room.ts';

const quiet = { shed: () => undefined };
const size = { records: 10_000, recordBytes: 2560 };

type Answer = ReturnType<typeof answer>;

/** An answer of one address, which is being made until `finish` is called. */
function answer(room: RecordRoom, ipAddress: string, records: number, request: object = {}) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const answer = { begun: false, finish: resolve, done: Promise.resolve() };
  const work = () => {
    answer.begun = true;
    return promise;
  };
  answer.done = runWithRequestContext({ ipAddress, ...request } as RequestContext, () => room.run(records, work));
  answer.done.catch(() => undefined);
  return answer;
}

/** Tells of a long answer to an address, which reads it until the response is closed. */
function noteLong(
  room: RecordRoom,
  ipAddress: string,
  { list = {}, records = 100, bytes = 2_000_000 } = {},
): ServerResponse {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  runWithRequestContext({ ipAddress } as RequestContext, () => room.noteLong(list, records, bytes, response));
  return response;
}

const begun = async (...answers: { begun: boolean }[]) => {
  await turn();
  return answers.map((answer) => answer.begun);
};

describe('room for the records of answers', () => {
  it('takes those of all addresses up to its size, and the next as soon as there is room', async () => {
    const room = new RecordRoom(size, quiet);
    const from = (host: number) => answer(room, `192.0.2.${host}`, 4000);
    const [first, second, third] = [from(1), from(2), from(3)] as const;
    expect(await begun(first, second, third)).toEqual([true, true, false]);
    first.finish();
    expect(await begun(third)).toEqual([true]);
  });

  it('is taken by one address for a half only, so that others find some', async () => {
    const room = new RecordRoom(size, quiet);
    const own = [1, 2, 3].map(() => answer(room, '192.0.2.1', 2000));
    const other = answer(room, '192.0.2.2', 2000);
    expect(await begun(...own, other)).toEqual([true, true, false, true]);
    own[0]?.finish();
    expect(await begun(...own)).toEqual([true, true, true]);
  });

  it('is given in turns of the addresses, so that nobody waits for all that another asks for', async () => {
    const room = new RecordRoom(size, quiet);
    const own = [1, 2, 3].map(() => answer(room, '192.0.2.1', 9000));
    const other = answer(room, '192.0.2.2', 9000);
    own[0]?.finish();
    expect(await begun(...own, other)).toEqual([true, false, false, true]);
    other.finish();
    expect(await begun(...own, other)).toEqual([true, true, false, true]);
  });

  it('goes first to the address that had no turn for longest, however short its answers were', async () => {
    const room = new RecordRoom(size, quiet);
    for (const address of ['192.0.2.5', '192.0.2.2']) {
      const short = answer(room, address, 2000);
      short.finish();
      await short.done;
    }
    const under = answer(room, '192.0.2.1', 9000);
    const waiting = ['192.0.2.2', '192.0.2.5', '192.0.2.3'].map((address) => answer(room, address, 9000));
    const [latest, known, other] = waiting as [Answer, Answer, Answer];
    under.finish();
    expect(await begun(latest, known, other)).toEqual([false, false, true]);
    const small = answer(room, '192.0.2.4', 1001);
    other.finish();
    expect(await begun(small, latest, known)).toEqual([true, false, false]);
    small.finish();
    expect(await begun(latest, known)).toEqual([false, true]);
  });

  it('is not taken by small answers that come while a large one waits for it', async () => {
    const room = new RecordRoom(size, quiet);
    const [under, large] = [answer(room, '192.0.2.1', 6000), answer(room, '192.0.2.2', 9000)];
    const small = answer(room, '192.0.2.3', 2000);
    expect(await begun(under, large, small)).toEqual([true, false, false]);
    under.finish();
    expect(await begun(large, small)).toEqual([true, false]);
  });

  it('is had alone by an answer that is larger than all of it', async () => {
    const room = new RecordRoom(size, quiet);
    const [small, huge] = [answer(room, '192.0.2.1', 2000), answer(room, '192.0.2.2', 30_000)];
    expect(await begun(small, huge)).toEqual([true, false]);
    small.finish();
    expect(await begun(huge, answer(room, '192.0.2.3', 1001))).toEqual([true, false]);
  });

  it('is no matter of ordinary answers', async () => {
    const room = new RecordRoom(size, quiet);
    answer(room, '192.0.2.1', 30_000);
    expect(await begun(answer(room, '192.0.2.1', 1000))).toEqual([true]);
  });

  it('is refused with 503 after two seconds, the first of an address after ten, and at once to an address of which many wait beside others', async () => {
    const shed: string[] = [];
    const room = new RecordRoom(size, { shed: (reason) => shed.push(reason) });
    vi.useFakeTimers();
    const first = answer(room, '192.0.2.1', 9000);
    const waiting = Array.from({ length: 32 }, () => answer(room, '192.0.2.1', 9000));
    waiting.push(answer(room, '192.0.2.2', 9000));
    await expect(answer(room, '192.0.2.1', 9000).done).rejects.toBeInstanceOf(ServiceUnavailableException);
    vi.advanceTimersByTime(2000);
    vi.advanceTimersByTime(8000);
    vi.useRealTimers();
    for (const { done } of waiting) await expect(done).rejects.toMatchObject({ headers: { 'Retry-After': '1' } });
    expect(shed).toEqual(Array(34).fill('costly'));
    first.finish();
    await first.done;
    expect(room.held).toBe(0);
    expect(await begun(answer(room, '192.0.2.1', 9000))).toEqual([true]);
  });

  it('may be waited for by 512 answers to one address while no other waits', async () => {
    const room = new RecordRoom(size, quiet);
    const answers = Array.from({ length: 513 }, () => answer(room, '192.0.2.1', 9000));
    await expect(answer(room, '192.0.2.1', 9000).done).rejects.toBeInstanceOf(ServiceUnavailableException);
    for (const { finish } of answers) finish();
    await Promise.all(answers.map(({ done }) => done));
    expect(room.held).toBe(0);
  });

  it('is given back by who went away while it waited, and by what fails', async () => {
    const room = new RecordRoom(size, quiet);
    const first = answer(room, '192.0.2.1', 9000);
    const gone = answer(room, '192.0.2.2', 9000, { abortReason: 'gone' });
    first.finish();
    await expect(gone.done).rejects.toThrow('gone');
    await expect(room.run(2000, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect([gone.begun, room.held]).toEqual([false, 0]);
  });

  it('goes last to addresses that have not read a long answer for a second, until they have', async () => {
    vi.useFakeTimers();
    const room = new RecordRoom(size, quiet);
    const under = answer(room, '192.0.2.1', 9000);
    const unread = noteLong(room, '192.0.2.2');
    vi.advanceTimersByTime(1001);
    noteLong(room, '192.0.2.3').emit('close');
    const [slow, other] = [answer(room, '192.0.2.2', 9000), answer(room, '192.0.2.3', 9000)];
    under.finish();
    await under.done;
    expect([slow.begun, other.begun]).toEqual([false, true]);
    const later = answer(room, '192.0.2.3', 9000);
    unread.emit('close');
    other.finish();
    await other.done;
    expect([slow.begun, later.begun]).toEqual([true, false]);
    vi.useRealTimers();
  });

  it('is waited for by the first of each address for as long as ten seconds, because a round has a turn for each', async () => {
    const room = new RecordRoom(size, quiet);
    vi.useFakeTimers();
    const under = answer(room, '192.0.2.1', 9000);
    const [first, second] = [answer(room, '192.0.2.2', 9000), answer(room, '192.0.2.2', 9000)];
    const late = answer(room, '192.0.2.3', 9000);
    vi.advanceTimersByTime(2000);
    await expect(second.done).rejects.toBeInstanceOf(ServiceUnavailableException);
    vi.advanceTimersByTime(7999);
    under.finish();
    await under.done;
    expect(first.begun).toBe(true);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await expect(late.done).rejects.toBeInstanceOf(ServiceUnavailableException);
  });

  it('is needed by as many as the length of latest answers to a list stands for, in the service that gave them alone', () => {
    const [room, other] = [new RecordRoom(size, quiet), new RecordRoom(size, quiet)];
    const list = {};
    noteLong(room, '192.0.2.1', { list, bytes: 2_560_000 });
    // Five times the length of each, in records of 2,560 bytes; a little less, as time goes by.
    expect(room.neededFor(list, 200) / 10_000).toBeCloseTo(1, 2);
    expect([other.neededFor(list, 200), room.neededFor({}, 200)]).toEqual([200, 200]);
  });

  it('is needed by fewer than there might have been where those were shorter, by a quarter at least, for a minute', () => {
    vi.useFakeTimers();
    const room = new RecordRoom(size, quiet);
    const [few, fewer] = [{}, {}];
    noteLong(room, '192.0.2.1', { list: few, records: 20_000, bytes: 5_120_000 });
    noteLong(room, '192.0.2.1', { list: fewer, records: 20_000, bytes: 1_024_000 });
    expect(room.neededFor(few, 20_000) / 10_000).toBeCloseTo(1, 2);
    expect(room.neededFor(fewer, 20_000)).toBe(5000);
    vi.advanceTimersByTime(60_000);
    expect(room.neededFor(few, 20_000)).toBe(20_000);
    vi.useRealTimers();
  });

  it('goes first to the address whose work of all kinds had the least of the database, of those that had no turn before', async () => {
    const costs = new Map([
      ['192.0.2.1', 900],
      ['192.0.2.2', 500],
      ['192.0.2.3', 100],
    ]);
    const room = new RecordRoom(size, quiet, { hadLately: (client) => costs.get(client) ?? 0 });
    const holder = answer(room, '192.0.2.9', 10_000);
    const [much, some, little] = [1, 2, 3].map((host) => answer(room, `192.0.2.${host}`, 10_000)) as Answer[];
    const waiting = [much, some, little] as [Answer, Answer, Answer];
    holder.finish();
    expect(await begun(...waiting)).toEqual([false, false, true]);
    little?.finish();
    expect(await begun(...waiting)).toEqual([false, true, true]);
    some?.finish();
    expect(await begun(...waiting)).toEqual([true, true, true]);
  });

  it('is put off by what an address had of the database for ten seconds at most, so that who has much to do has its turn as well', async () => {
    const room = new RecordRoom(size, quiet, { hadLately: (client) => (client === '192.0.2.1' ? 1_000_000 : 0) });
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    vi.advanceTimersByTime(10_000);
    const had = answer(room, '192.0.2.2', 10_000);
    await turn();
    had.finish();
    await turn();
    const holder = answer(room, '192.0.2.9', 10_000);
    const waiting = [answer(room, '192.0.2.1', 10_000), answer(room, '192.0.2.2', 10_000)] as const;
    holder.finish();
    expect(await begun(...waiting)).toEqual([true, false]);
  });

  it('is told of by the request that has it, whose queries then have places of their own', async () => {
    const room = new RecordRoom(size, quiet);
    const request: Partial<RequestContext> = { ipAddress: '192.0.2.1' };
    const told = () =>
      runWithRequestContext(request as RequestContext, () => room.run(5000, async () => request.hasRoom));
    expect(await told()).toBe(true);
  });
});
