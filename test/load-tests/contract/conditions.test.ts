import { describe, expect, it } from 'vitest';
import {
  narrowFilters,
  passes,
  relatedOrder,
  searchWords,
  whereOf,
  wideFilters,
} from '../../../load-tests/contract/conditions.ts';
import type { Resource } from '../../../load-tests/contract/resource.ts';

const lamps: Resource = {
  name: 'lamps',
  path: '/lamps',
  routes: {},
  pageSize: { default: 10, maximum: 100 },
  fields: { id: 'uuid', name: 'text', colour: 'enum', price: 'number', room: 'other' },
  sorts: { price: 'number', 'room.name': 'text' },
  filters: { id: ['in'], name: ['contains'], colour: ['equals'], price: ['equals', 'gte', 'lte'] },
  relations: [{ name: 'room', many: false, take: 0, fields: { name: 'text' }, filters: { name: ['in'] } }],
  searchBox: false,
  actions: [],
};

const samples = Array.from({ length: 40 }, (_, index) => ({
  id: `id-${index}`,
  name: `A lamp of number ${index}`,
  colour: index % 2 ? 'red' : 'blue',
  price: 10 * index,
  room: { name: `Room ${index % 4}` },
}));

describe('wideFilters', () => {
  it('are ranges that most sampled records pass, sorted by their field, some with a related record', () => {
    const filters = wideFilters(lamps, samples);
    expect(filters.map(({ order }) => order.key)).toEqual(['price', 'price', 'price', 'price']);
    const shares = filters.map(
      ({ conditions }) => samples.filter((row) => passes(row, conditions.slice(0, 1))).length / samples.length,
    );
    for (const share of shares) expect(share).toBeGreaterThanOrEqual(0.5);
    expect(filters.filter(({ include }) => include.includes('room')).length).toBe(2);
    expect(whereOf(filters[1]?.conditions ?? [])).toEqual({
      price: { gte: 30, lte: 390 },
      room: { name: { in: ['Room 0', 'Room 1'] } },
    });
  });

  it('are of a field that the sampled records have a value of', () => {
    const weighed: Resource = {
      ...lamps,
      fields: { weight: 'number', ...lamps.fields },
      filters: { weight: ['gte', 'lte'], ...lamps.filters },
      sorts: { weight: 'number', ...lamps.sorts },
    };
    const rows = samples.map((row) => ({ ...row, weight: null }));
    expect(wideFilters(weighed, rows).map(({ order }) => order.key)).toEqual(Array(4).fill('price'));
  });

  it('name fewer related records where their texts are long, because a long query gets no links', () => {
    const named = samples.map((row, index) => ({ ...row, room: { name: `${index % 10}`.padEnd(40, ' lantern') } }));
    const [, second] = wideFilters(lamps, named);
    expect(second?.conditions[1]?.values).toEqual(['0', '1', '2'].map((number) => number.padEnd(40, ' lantern')));
  });

  it('are common letters where there is no range', () => {
    const [first] = wideFilters({ ...lamps, filters: { name: ['contains'] }, relations: [] }, samples);
    expect(first && passes(samples[0] ?? {}, first.conditions)).toBe(true);
    expect(wideFilters({ ...lamps, filters: {}, relations: [] }, samples)).toEqual([]);
  });
});

describe('narrowFilters', () => {
  it('are of the field with the most values, the id last', () => {
    const [first] = narrowFilters(lamps, samples);
    expect(whereOf(first?.conditions ?? [])).toEqual({ price: { equals: 0 } });
    expect(narrowFilters({ ...lamps, filters: { id: ['in'] } }, samples)[0]?.conditions[0]?.values).toHaveLength(3);
  });
});

describe('passes', () => {
  it('is false for a record outside of a range, of a list or without the text', () => {
    const range = [{ path: 'price', kind: 'number', operator: 'range', values: [10, 20] }] as const;
    expect([5, 10, 20, 25, null].map((price) => passes({ price }, range))).toEqual([false, true, true, false, false]);
    expect(passes({ name: 'lamp' }, [{ path: 'name', kind: 'text', operator: 'contains', values: ['m'] }])).toBe(true);
    expect(passes({ name: 'lap' }, [{ path: 'name', kind: 'text', operator: 'contains', values: ['m'] }])).toBe(false);
    expect(
      passes({ at: '2024-01-01T00:00:00.000Z' }, [
        { path: 'at', kind: 'date', operator: 'equals', values: ['2024-01-01T00:00:00Z'] },
      ]),
    ).toBe(true);
  });
});

describe('relatedOrder', () => {
  it('is by a field of a relation, which is included', () => {
    expect(relatedOrder(lamps)).toEqual({ order: { key: 'room.name', kind: 'text' }, include: ['room'] });
    expect(relatedOrder({ ...lamps, sorts: {} })).toBeUndefined();
  });
});

describe('searchWords', () => {
  it('are the longest words of texts, of related records too', () => {
    expect(searchWords(lamps, samples.slice(0, 1))).toEqual(['number', 'Room']);
  });
});
