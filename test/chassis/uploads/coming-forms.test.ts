import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ComingForms } from '../../../src/chassis/uploads/coming-forms.ts';
import { LentRoom, type Room } from '../../../src/chassis/uploads/lent-room.ts';

let gaveWay: string[];
beforeEach(() => {
  gaveWay = [];
});

/** A form of a client of which this many bytes have come, and for whose file this room is kept. */
function form(name: string, client: string, bytes: number, room?: Room) {
  return { client, received: () => bytes, room, giveWay: () => void gaveWay.push(name) };
}

/** Room of so many bytes for a file of a client. */
function roomOf(client: string, bytes: number): Room {
  return { client, bytes, ownerKey: '', store: () => undefined, release: () => undefined };
}

/** Lends the room of a form to its client. */
function lend(shared: LentRoom, client: string, bytes = 100): Room {
  const room = roomOf(client, bytes);
  shared.lend(room);
  return room;
}

describe('ComingForms', () => {
  it('has one give way beyond three quarters of its places, and refuses who finds none until one has ended', () => {
    const forms = new ComingForms(4);
    const enter = (name: string) => forms.enter(form(name, name, 0));
    const leaves = ['a', 'b', 'c'].map(enter);
    expect(gaveWay).toEqual([]);
    expect(enter('d')).toBeTypeOf('function');
    expect(gaveWay).toHaveLength(1);
    expect(enter('e')).toBeUndefined();
    leaves[0]?.();
    const last = enter('e');
    expect(gaveWay).toHaveLength(2);
    for (const leave of [...leaves.slice(1), last]) leave?.();
    expect([enter('f'), enter('g'), enter('h')]).not.toContain(undefined);
  });

  it('has those give way that send nothing or little, and not an older one that is slow', async () => {
    const forms = new ComingForms(40);
    forms.enter(form('slow', '192.0.2.1', 200_000));
    await wait(20);
    for (let index = 0; index < 29; index += 1) forms.enter(form('stalled', `198.51.100.${index}`, index));
    for (let index = 0; index < 8; index += 1) forms.enter(form('new', `203.0.113.${index}`, 1000));
    expect(gaveWay).toEqual(Array(8).fill('stalled'));
  });

  it('has those of a client with many give way before the slower one of another', () => {
    const forms = new ComingForms(16);
    forms.enter(form('slow', '192.0.2.1', 10_000));
    for (let index = 0; index < 11; index += 1) forms.enter(form('one of many', '192.0.2.2', 50_000));
    forms.enter(form('new', '192.0.2.3', 0));
    expect(gaveWay).toEqual(['one of many']);
  });

  it('has the slowest give way for the room of all, until none is slower than one that has just come', () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const forms = new ComingForms(40);
    const shared = new LentRoom();
    const enter = (name: string, client: string, bytes: number) =>
      forms.enter(form(name, client, bytes, lend(shared, client)));
    enter('fast', '192.0.2.1', 400_000);
    enter('trickling', '192.0.2.2', 400);
    vi.advanceTimersByTime(3000);
    enter('new', '192.0.2.3', 0);
    for (let second = 0; second < 3; second += 1) forms.makeRoom(shared.asked(roomOf('192.0.2.4', 100)));
    expect(gaveWay).toEqual(['trickling']);
  });

  describe('for room that an address has and another waits for', () => {
    const shared = () => ({ forms: new ComingForms(40), shared: new LentRoom() });

    it('has the slowest of the address with the most give way, at any pace, until it has no more than the other would', () => {
      const { forms, shared: room } = shared();
      for (const [name, client, bytes] of [
        ['first of three', 'three', 900_000],
        ['slowest of three', 'three', 500_000],
        ['second of three', 'three', 800_000],
        ['of two', 'two', 400_000],
        ['other of two', 'two', 400_000],
        ['only one', 'one', 300_000],
      ] as const) {
        const lent = lend(room, client);
        const giveWay = () => {
          gaveWay.push(name);
          room.giveBack(lent);
        };
        forms.enter({ ...form(name, client, bytes, lent), giveWay });
      }
      for (const client of ['new', 'one']) forms.makeRoom(room.asked(roomOf(client, 100)));
      expect(gaveWay).toEqual(['slowest of three']);
      for (let time = 0; time < 4; time += 1) forms.makeRoom(room.asked(roomOf('new', 100)));
      expect(gaveWay).toEqual(['slowest of three', 'of two', 'second of three']);
    });

    it('has no slow one give way to an address that has as much, and at one address the slowest, however much that has', () => {
      vi.useFakeTimers({ toFake: ['performance', 'Date'] });
      onTestFinished(() => void vi.useRealTimers());
      const { forms, shared: room } = shared();
      forms.enter(form('slow', 'one', 10_000, lend(room, 'one')));
      for (const bytes of [900_000, 20_000]) forms.enter(form(`${bytes}`, 'two', bytes, lend(room, 'two')));
      vi.advanceTimersByTime(3000);
      for (const client of ['two', 'two', 'two']) forms.makeRoom(room.asked(roomOf(client, 100)));
      expect(gaveWay).toEqual(['20000']);
    });

    it('has the slowest of those give way that have been coming for long, to an address that has less', () => {
      vi.useFakeTimers({ toFake: ['performance', 'Date'] });
      onTestFinished(() => void vi.useRealTimers());
      const { forms, shared: room } = shared();
      for (const name of ['one', 'two'])
        forms.enter(form(name, name, name === 'one' ? 600_000 : 500_000, lend(room, name)));
      for (const client of ['two', 'new']) {
        vi.advanceTimersByTime(3000);
        forms.makeRoom(room.asked(roomOf(client, 100)));
      }
      expect(gaveWay).toEqual(['two']);
    });

    it('gives a large file the time that it takes, and has nobody give way to another file of its own address', () => {
      vi.useFakeTimers({ toFake: ['performance', 'Date'] });
      onTestFinished(() => void vi.useRealTimers());
      const { forms, shared: room } = shared();
      forms.enter(form('large', 'one', 4_000_000, lend(room, 'one', 10_000_000)));
      vi.advanceTimersByTime(20_000);
      forms.makeRoom(room.asked(roomOf('new', 100)));
      vi.advanceTimersByTime(6000);
      forms.makeRoom(room.asked(roomOf('one', 100)));
      expect(gaveWay).toEqual([]);
      forms.makeRoom(room.asked(roomOf('new', 100)));
      expect(gaveWay).toEqual(['large']);
    });

    it('has none give way whose end gives no room, and not the only one of its address for being long', () => {
      const { forms, shared: room } = shared();
      for (let index = 0; index < 3; index += 1) forms.enter(form('elsewhere', 'other', 0, roomOf('other', 100)));
      forms.enter(form('long', 'one', 400_000, lend(room, 'one', 1000)));
      forms.makeRoom(room.asked(roomOf('new', 100)));
      expect(gaveWay).toEqual([]);
    });

    it('asks no more of others for all that wait at one address than it would have then', () => {
      const { forms, shared: room } = shared();
      for (let index = 0; index < 5; index += 1) forms.enter(form('of five', 'five', 400_000, lend(room, 'five')));
      const waiting = Array.from({ length: 20 }, () => roomOf('new', 100));
      for (const one of waiting) room.wait(one, true);
      for (const one of waiting) forms.makeRoom(room.asked(one));
      expect(gaveWay).toHaveLength(4);
    });
  });

  it('refuses a new one that would give way itself, unless it is the only one of its client', () => {
    const forms = new ComingForms(4);
    for (const name of ['a', 'b', 'c']) forms.enter(form(name, `client of ${name}`, 1_000_000));
    expect(forms.enter(form('second of a', 'client of a', 0))).toBeUndefined();
    expect(gaveWay).toEqual([]);
    expect(forms.enter(form('new', 'client of new', 0))).toBeTypeOf('function');
    expect(gaveWay).toHaveLength(1);
  });

  it('counts those that gave way within a minute, so that many of 200 clients, one after the other, push out nobody', () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'], now: 1_000_000 });
    onTestFinished(() => void vi.useRealTimers());
    const forms = new ComingForms(64);
    const over: (() => void)[] = [];
    /** Has a form come; tells whether it gave way, or was refused. */
    const comes = (client: string, received: () => number) => {
      const state = { isOut: false, leave: (): void => undefined };
      const giveWay = () => {
        state.isOut = true;
        over.push(() => state.leave());
      };
      const leave = forms.enter({ client, received, giveWay });
      if (leave) state.leave = leave;
      else state.isOut = true;
      return state;
    };
    const slow: ReturnType<typeof comes>[] = [];
    const stored: boolean[] = [];
    for (let second = 0; second < 55; second += 1) {
      for (let index = 0; index < 60; index += 1) {
        vi.advanceTimersByTime(1000 / 60);
        for (const leave of over.splice(0)) leave();
        comes(`198.51.100.${(second * 60 + index) % 200}`, () => 16_384);
      }
      const since = performance.now();
      slow.push(comes(`192.0.2.${second}`, () => 6 * (performance.now() - since)));
      // Each has come after three seconds.
      const whole = slow.length > 3 ? slow.shift() : undefined;
      if (whole) stored.push(!whole.isOut);
      whole?.leave();
    }
    // Until each of them has had some give way, which takes seconds, nobody can tell them from others.
    expect(stored.slice(10)).not.toContain(false);
  });
});
