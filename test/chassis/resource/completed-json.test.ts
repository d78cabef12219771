import { describe, expect, it } from 'vitest';
import { StoredRecords } from '../../../src/chassis/database/reads/coalesce.ts';
import { Completion } from '../../../src/chassis/query/policy/completion.ts';
import { completedJson } from '../../../src/chassis/resource/completed-json.ts';

/** Orders with lines, of which two columns are read for computed fields only. */
function ordersOf(count: number, lines: number) {
  return Array.from({ length: count }, (_order, id) => ({
    id,
    secret: 'hidden',
    createdAt: '2026-01-01T00:00:00.000Z',
    lines: Array.from({ length: lines }, (_line, line) => ({
      line,
      name: `Line ${line} of order ${id}`,
      price: 'hidden',
    })),
  }));
}

const inner = new Completion('OrderLine', new Map(), new Map(), new Set(['price']));
const completion = new Completion('Order', new Map(), new Map([['lines', inner]]), new Set(['secret']));

function stored(records: readonly object[]) {
  return new StoredRecords(
    records.map((record) => JSON.stringify(record)),
    { createdAt: 'date' },
  );
}

/** Turns of the event loop until `work` is done. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
}

describe('completedJson', () => {
  it.each([
    ['records that nobody has looked at', stored],
    ['records', (records: readonly object[]) => records],
  ])('is the JSON of %s, without the columns that were only read for others', async (_what, listOf) => {
    const { texts, isList } = await completedJson(completion, listOf(ordersOf(2, 2)));
    expect(isList).toBe(true);
    expect(texts.map((text) => JSON.parse(text))).toEqual(
      ordersOf(2, 2).map(({ id, createdAt, lines }) => ({
        id,
        createdAt,
        lines: lines.map(({ line, name }) => ({ line, name })),
      })),
    );
  });

  it('leaves the event loop to others while records hold ten thousand others, and is made at once of few', async () => {
    const many = stored(ordersOf(100, 100));
    expect(await turnsOf(() => completedJson(completion, many))).toBeGreaterThan(10);
    const few = stored(ordersOf(5, 5));
    expect(await turnsOf(() => completedJson(completion, few))).toBeLessThan(2);
  });

  it('has records that two look at made once', async () => {
    const many = stored(ordersOf(100, 100));
    const pause = () => new Promise<void>(setImmediate);
    await Promise.all([many.load(pause), many.load(pause)]);
    const { records } = many;
    await many.load(pause);
    expect(many.records).toBe(records);
    expect(Object.isFrozen(records[0])).toBe(true);
  });
});
