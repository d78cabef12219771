import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  getRequestContext,
  runOutsideRequest,
  runWithRequestContext,
} from '../../../src/chassis/context/request-context.ts';
import type { OpenOrm } from '../../../src/chassis/database/client/orm.ts';
import { BadRequestException } from '../../../src/chassis/errors/exceptions.ts';
import type { Reporter } from '../../../src/chassis/errors/reporters/reporter.ts';
import { bodyParser } from '../../../src/chassis/http/bodies/body-parser.ts';
import { requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { anyProvider, openEmptyDatabase } from '../../support/empty-database.ts';
import { bareApp } from '../http/bare-app.ts';

/** The client as far as it is used here. */
interface Client {
  category: { count(): Promise<number>; create(query: object): Promise<unknown> };
  $extends(extension: object): Client;
  $transaction<T>(work: (client: Client) => Promise<T>): Promise<T>;
}

let database: OpenOrm;
beforeAll(async () => {
  database = await openEmptyDatabase(anyProvider);
});
afterAll(() => database.close());

/** The id of the current request, wherever this is called. */
const currentId = () => getRequestContext()?.requestId;

/** What `find` sees in a request whose id is `r1`, beside the body parser. */
async function seenIn(find: () => Promise<unknown>): Promise<unknown> {
  const app = bareApp([
    requestPipeline(),
    bodyParser({ limitBytes: 1_000 }),
    async (_req, res) => void res.json({ seen: await find() }),
  ]);
  const { body } = await request(app).post('/').set('x-request-id', 'r1').send({ some: 'body' });
  return body.seen;
}

describe('the request context', () => {
  it('is there after the body was parsed', async () => {
    expect(await seenIn(async () => currentId())).toBe('r1');
  });

  it('is there in timers, microtasks and events', async () => {
    const later = (schedule: (callback: () => void) => unknown) =>
      new Promise((resolve) => schedule(() => resolve(currentId())));
    const seen = await seenIn(() =>
      Promise.all([setTimeout, setImmediate, process.nextTick, queueMicrotask].map(later)),
    );
    expect(seen).toEqual(['r1', 'r1', 'r1', 'r1']);
  });

  it('is there in Prisma callbacks: after queries, in extensions and in transactions', async () => {
    const client = database.client as unknown as Client;
    const inExtension: unknown[] = [];
    const extended = client.$extends({
      query: {
        $allOperations: async ({ args, query }: { args: unknown; query: (args: unknown) => Promise<unknown> }) => {
          inExtension.push(currentId());
          const result = await query(args);
          inExtension.push(currentId());
          return result;
        },
      },
    });
    const seen = await seenIn(async () => [
      await client.category.count().then(currentId),
      await extended.category.count().then(currentId),
      await client.$transaction(async (inside) => inside.category.count().then(currentId)),
    ]);
    expect(seen).toEqual(['r1', 'r1', 'r1']);
    expect(inExtension).toEqual(['r1', 'r1']);
  });

  it('is there after errors, on the exception and for every reporter', async () => {
    const seen: unknown[] = [];
    const reporter: Reporter = {
      report: (exception, context) => void seen.push(currentId(), context?.requestId, exception.context?.['requestId']),
    };
    const fail = async () => {
      await database.client.$queryRawUnsafe('SELECT broken').catch(() => seen.push(currentId()));
      throw new BadRequestException();
    };
    const app = bareApp([requestPipeline(), bodyParser({ limitBytes: 1_000 }), fail], { reporters: [reporter] });
    await request(app).post('/').set('x-request-id', 'r1').send({});
    await request(app).post('/').set({ 'x-request-id': 'r2', 'content-type': 'application/json' }).send('{"bro');
    expect(seen).toEqual(['r1', 'r1', 'r1', 'r1', 'r2', 'r2', 'r2']);
  });

  it('is not there outside a request, nor for what is run outside', () => {
    const context = { requestId: 'r1', method: 'GET', url: '/', startTime: new Date() };
    expect(currentId()).toBeUndefined();
    expect(runWithRequestContext(context, () => [currentId(), runOutsideRequest(currentId), currentId()])).toEqual([
      'r1',
      undefined,
      'r1',
    ]);
  });

  it('holds the deadline that the caller set, as a number of milliseconds or a date', async () => {
    const app = bareApp([requestPipeline(), (_req, res) => void res.json({ deadline: getRequestContext()?.deadline })]);
    const deadlineOf = async (header: string) =>
      (await request(app).get('/').set('x-request-deadline', header)).body.deadline;
    expect(await deadlineOf('1795000000000')).toBe(1_795_000_000_000);
    expect(await deadlineOf('2026-11-21T13:00:00+01:00')).toBe(Date.parse('2026-11-21T12:00:00Z'));
    for (const header of ['soon', '17', '2026-11-21', '2026-13-41T00:00:00Z'])
      expect(await deadlineOf(header)).toBeUndefined();
  });
});
