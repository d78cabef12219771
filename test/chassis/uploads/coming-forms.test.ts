import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { ComingForms } from '../../../src/chassis/uploads/coming-forms.ts';

let gaveWay: string[];
beforeEach(() => {
  gaveWay = [];
});

/** A form of a client of which this many bytes have come. */
function form(name: string, client: string, bytes: number) {
  return { client, received: () => bytes, giveWay: () => void gaveWay.push(name) };
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
});
