import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../src/chassis/context/request-context.ts';
import type { OpenOrm } from '../../../src/chassis/database/client/orm.ts';
import { tooLong } from '../../../src/chassis/database/client/read-room.ts';
import { eachRecord } from '../../../src/chassis/database/each-record.ts';
import { StoredRecords } from '../../../src/chassis/database/reads/coalesce.ts';
import { Repository } from '../../../src/chassis/database/repository.ts';
import type { FindQuery } from '../../../src/chassis/query/query-types.ts';
import { databaseProviders, openEmptyDatabase } from '../../support/empty-database.ts';
import { raised } from '../../support/raised.ts';

/** Gives records of which `textOf` says how long they are, and keeps how many were asked for each time. */
function sourceOf(count: number, textOf: (id: number) => string, mostChars = Number.POSITIVE_INFINITY) {
  const takes: number[] = [];
  const read = async ({ take, where }: FindQuery) => {
    takes.push(take);
    const [behind] = (where as { AND: { id: { gt: number } }[] } | undefined)?.AND ?? [];
    const from = behind ? behind.id.gt + 1 : 0;
    const ids = Array.from({ length: Math.min(take, count - from) }, (_, index) => from + index);
    const texts = ids.map((id) => JSON.stringify({ id, text: textOf(id) }));
    const records = new StoredRecords<{ id: number }>(texts, {});
    if (records.chars > mostChars) throw tooLong(mostChars);
    return records;
  };
  return { takes, read };
}

async function idsOf(records: AsyncIterable<{ id?: unknown }>): Promise<unknown[]> {
  const ids = [];
  for await (const { id } of records) ids.push(id);
  return ids;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('the batches of many records', () => {
  it('grow where records are short, because each waits for its turn at the database', async () => {
    const { takes, read } = sourceOf(5000, () => 'short');
    expect(await idsOf(eachRecord(read))).toEqual(upTo(5000));
    expect(takes).toEqual([200, 400, 800, 800, 800, 800, 800, 800]);
  });

  it('grow no further than to a bounded text, and stay where records are long', async () => {
    const middling = sourceOf(1500, () => 'x'.repeat(500));
    expect(await idsOf(eachRecord(middling.read))).toEqual(upTo(1500));
    expect(middling.takes).toEqual([200, 400, 479, 479]);
    const long = sourceOf(600, () => 'x'.repeat(10_000));
    expect(await idsOf(eachRecord(long.read))).toEqual(upTo(600));
    expect(long.takes).toEqual([200, 200, 200, 200]);
  });

  it('fall back where records that follow are longer than a result may be, and raise where so many were asked for', async () => {
    const textOf = (id: number) => 'x'.repeat(id < 1400 ? 10 : 10_000);
    const { takes, read } = sourceOf(1900, textOf, 3_000_000);
    expect(await idsOf(eachRecord(read))).toEqual(upTo(1900));
    expect(takes).toEqual([200, 400, 800, 800, 200, 200, 200]);
    const asked = sourceOf(1900, textOf, 3_000_000);
    expect(await raised(() => idsOf(eachRecord(asked.read, { batchSize: 1900 })))).toMatchObject({ statusCode: 400 });
    expect(asked.takes).toEqual([1900]);
  });

  it('do not grow for an address with many streams, each of which may hold longer records than came before', async () => {
    const takesWith = (hasManyStreams: boolean) => {
      const request = { requestId: 'r', method: 'GET', url: '/', startTime: new Date(), hasManyStreams };
      return runWithRequestContext(request as RequestContext, async () => {
        const { takes, read } = sourceOf(900, () => 'short');
        expect(await idsOf(eachRecord(read))).toEqual(upTo(900));
        return takes;
      });
    };
    expect(await takesWith(true)).toEqual([200, 200, 200, 200, 200]);
    expect(await takesWith(false)).toEqual([200, 400, 800]);
  });

  it('are of the size that was asked for', async () => {
    const { takes, read } = sourceOf(1000, () => 'short');
    expect(await idsOf(eachRecord(read, { batchSize: 300 }))).toEqual(upTo(1000));
    expect(takes).toEqual([300, 300, 300, 300]);
  });
});

class Products extends Repository<'product'> {
  protected readonly model = 'product';
}

describe.each(databaseProviders)('each record on %s', (provider) => {
  const mostBytes = 3_000_000;
  let open: OpenOrm;

  beforeAll(async () => {
    open = await openEmptyDatabase(provider, {}, { reads: { mostBytes, hasRoom: () => true } });
    const { id: categoryId } = await open.client.category.create({ data: { name: 'shelf' } });
    const data = upTo(1900).map((index) => {
      const description = 'x'.repeat(index < 1400 ? 10 : 10_000);
      const id = `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`;
      return { id, sku: `sku ${index}`, name: 'n', price: index, categoryId, description };
    });
    await open.client.product.createMany({ data });
  });

  afterAll(() => open.close());

  it('comes once and in order, also where those behind are longer than a result of more of them may be', async () => {
    const products = new Products({ orm: open.client });
    const found = [];
    const select = { price: true, description: true };
    for await (const { price, description } of products.each({ select }))
      found.push([Number(price), description.length]);
    expect(found).toEqual(upTo(1900).map((index) => [index, index < 1400 ? 10 : 10_000]));
  });
});
