import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { from } from '../../../../src/chassis/query/policy/computed-field.ts';
import { many } from '../../../../src/chassis/query/policy/list-definition.ts';
import { listPolicy } from '../../../../src/chassis/query/policy/list-policy.ts';
import { cursors } from '../policies.ts';
import { reasonOf } from '../refusal-of.ts';

const line = z.object({ id: z.uuid(), quantity: z.int(), amount: z.int() });
const lineList = listPolicy('OrderLine', {
  record: line,
  computed: { amount: from(['price', 'quantity'], ({ price, quantity }) => price * quantity) },
  filter: { quantity: ['gte'] },
  sort: ['quantity'],
});
const order = z.object({ id: z.uuid(), number: z.string(), label: z.string() });
const orderList = listPolicy('Order', {
  record: order,
  computed: {
    label: from(['number', 'internalNote'], ({ number, internalNote }) => `${number} ${internalNote ?? ''}`),
  },
  only: { label: 'admin' },
  sort: ['number'],
  include: { lines: many(() => lineList) },
});

const one = from<'OrderLine', 'price', number>(['price'], () => 1);
const stored = { id: '1', quantity: 3, price: 20 };

describe('a computed field', () => {
  it('is computed from columns that are read for it, and do not leave with it', async () => {
    const { select, completion } = lineList.parseFind({});
    expect(select).toEqual({ id: true, quantity: true, price: true });
    expect(await completion?.of([stored, { ...stored, quantity: 1 }])).toEqual([
      { id: '1', quantity: 3, amount: 60 },
      { id: '1', quantity: 1, amount: 20 },
    ]);
    expect(await lineList.complete(stored)).toEqual({ id: '1', quantity: 3, amount: 60 });
    expect(stored).toHaveProperty('price');
  });

  it('is chosen by `select` of an include as a column is, and costs nothing where it is not chosen', async () => {
    const include = (select: object) => JSON.stringify({ lines: { select } });
    const chosen = orderList.parseFind({ include: include({ amount: true }) });
    expect(chosen.select).toMatchObject({ lines: { select: { price: true, quantity: true } } });
    const [first] = (await chosen.completion?.of([{ id: 'o', number: 'N', lines: [stored, stored] }])) ?? [];
    expect(first).toEqual({
      id: 'o',
      number: 'N',
      lines: [
        { id: '1', amount: 60 },
        { id: '1', amount: 60 },
      ],
    });
    const other = orderList.parseFind({ include: include({ quantity: true }) });
    expect(other.select).toMatchObject({ lines: { select: { quantity: true } } });
    expect(other.completion).toBeUndefined();
    expect(orderList.parseFind({}).completion).toBeUndefined();
  });

  it('is completed on pages by cursor too, whose order may need a column that does not leave', async () => {
    const page = lineList.parseSearch({ orderBy: '{"quantity":"desc"}', cursor: '', pageSize: '1' }, cursors);
    const { data } = page.cursor?.finish([stored], 1) ?? { data: [] };
    expect(await page.completion?.of(data)).toEqual([{ id: '1', quantity: 3, amount: 60 }]);
  });

  it('can be neither filtered nor sorted by, which the refusal says', () => {
    const says = '"amount" is computed, so nothing can be filtered or sorted by it';
    expect(reasonOf(() => lineList.parseFind({ where: '{"amount":{"gte":1}}' }))).toContain(says);
    expect(reasonOf(() => lineList.parseFind({ where: '{"OR":[{"amount":1}]}' }))).toContain(says);
    expect(reasonOf(() => lineList.parseFind({ orderBy: '{"amount":"asc"}' }))).toContain(says);
  });

  it('can be for a role, and is to others as a name that does not exist', async () => {
    const unknown = reasonOf(() => orderList.parseFind({ orderBy: '{"nolab":"asc"}' }));
    expect(reasonOf(() => orderList.parseFind({ orderBy: '{"label":"asc"}' }))).toBe(
      unknown.replaceAll('nolab', 'label'),
    );
    expect(orderList.select).toEqual({ id: true, number: true });
    const forAdmins = orderList.seenBy(new Set(['admin']));
    expect(forAdmins.select).toEqual({ id: true, number: true, internalNote: true });
    const whole = { id: 'o', number: 'N', internalNote: 'late' };
    expect(await forAdmins.complete(whole)).toEqual({ id: 'o', number: 'N', label: 'N late' });
  });

  it.each([
    ['is not in the record', { computed: { margin: one } }],
    ['expected from() or fromAll() with at least one column', { computed: { amount: from([] as never, () => 1) } }],
    ['expected from() or fromAll() with at least one column', { computed: { amount: () => 1 } }],
    ['sort: amount is not in the record; expected one of id, quantity', { sort: ['amount'] }],
    ['filter: amount is not in the record', { filter: { amount: ['gte'] } }],
  ])('refuses a definition that cannot work: %s', (problem, change) => {
    const definition = { record: line, computed: { amount: one }, ...change };
    expect(() => listPolicy('OrderLine', definition as never)).toThrow(problem);
  });
});
