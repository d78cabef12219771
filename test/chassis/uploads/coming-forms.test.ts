import { describe, expect, it } from 'vitest';
import { ComingForms } from '../../../src/chassis/uploads/coming-forms.ts';

describe('ComingForms', () => {
  it('has the oldest give way beyond three quarters of its places, and refuses who finds none until one has ended', () => {
    const forms = new ComingForms(4);
    const gaveWay: string[] = [];
    const enter = (name: string) => forms.enter(() => gaveWay.push(name));
    const leaves = ['a', 'b', 'c'].map(enter);
    expect(gaveWay).toEqual([]);
    expect(enter('d')).toBeTypeOf('function');
    expect(gaveWay).toEqual(['a']);
    expect(enter('e')).toBeUndefined();
    leaves[0]?.();
    const last = enter('e');
    expect(gaveWay).toEqual(['a', 'b']);
    for (const leave of [...leaves.slice(1), last]) leave?.();
    expect([enter('f'), enter('g'), enter('h')]).not.toContain(undefined);
  });
});
