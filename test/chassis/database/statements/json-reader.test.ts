import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomNumbers } from '../../../../prisma/seed/random.ts';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { unscoped } from '../../../../src/chassis/context/run-as.ts';
import { type OpenOrm, openDatabase } from '../../../../src/chassis/database/client/orm.ts';
import { registeredPolicies } from '../../../../src/chassis/loaders/mounted-routers.ts';
import type { AnyListPolicy } from '../../../../src/chassis/query/policy/list-policy.ts';
import { bootTestApp } from '../../../support/boot-test-app.ts';
import { databaseProviders, openEmptyDatabase } from '../../../support/empty-database.ts';
import {
  type EveryTypeApp,
  everyTypeModels,
  gadgetList,
  makerList,
  partList,
  tagList,
} from '../../resource/every-type.ts';
import { Answers, type Reading } from './answers.ts';
import { RandomQueries, type Samples } from './random-queries.ts';
import { everyTypeRecords, shopRecords } from './random-records.ts';

/** How many queries of each database and set of models; READER_QUERIES=5000 makes 20,000 of all. */
const wanted = Number(process.env.READER_QUERIES ?? 400);
/** The same queries in every run; another seed asks others. */
const seed = Number(process.env.READER_SEED ?? 1);

const app = await bootTestApp();
const modulePolicies = registeredPolicies(app.express).map(({ policy }) => policy);
const models = await everyTypeModels();
afterAll(models.remove);

/** Counts what the reader answered and what it left to the ORM. */
class ReaderCounts {
  read = 0;
  left = { shape: 0, failed: 0 };

  readonly seconds = {
    observe: () => {
      this.read += 1;
    },
  };

  coalesced(): void {
    this.read += 0;
  }

  leftToOrm(reason: 'shape' | 'failed'): void {
    this.left[reason] += 1;
  }
}

interface Subject {
  readonly policy: AnyListPolicy;
  /** Whether requests that ask for single records at once are answered by one statement. */
  readonly together: boolean;
  readonly byOrm: Answers;
  readonly byReader: Answers;
}

function subjectsOf(policies: readonly AnyListPolicy[], orm: Pick<OpenOrm, 'client'>, reader: OpenOrm): Subject[] {
  return policies.map((policy) => ({
    policy,
    together: reader.provider === 'postgresql',
    byOrm: new Answers(orm.client, policy),
    byReader: new Answers(reader.client, policy),
  }));
}

async function samplesOf(subjects: readonly Subject[]): Promise<Samples> {
  const entries = subjects.map(async ({ policy, byOrm }) => {
    const answer = await byOrm.of('list', {});
    return [policy.model, JSON.parse(answer.slice(answer.indexOf('{"success"'))).data] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Asks both for the same, and gives the answer that they agree on. */
async function agreed(subject: Subject, reading: Reading, query: Record<string, string>, id?: string) {
  const [expected, found] = await Promise.all([
    subject.byOrm.of(reading, query, id),
    subject.byReader.of(reading, query, id),
  ]);
  const about = `seed ${seed}, ${reading} of ${subject.policy.model} ${id ?? ''} ${JSON.stringify(query)}`;
  if (found !== expected) expect(found, about).toBe(expected);
  return expected;
}

const requestOf = (): RequestContext => ({ requestId: 'r', method: 'GET', url: '/', startTime: new Date() });

/** Asks both for single records, the reader for all at once, as requests do. */
async function agreedTogether(subject: Subject, query: Record<string, string>, ids: readonly string[]) {
  const expected: string[] = [];
  // The reader learns with the first how long they are.
  for (const id of ids) expected.push(await agreed(subject, 'get', query, id));
  const ask = (id: string) => unscoped('both readers', () => subject.byReader.of('get', query, id));
  const found = await Promise.all(ids.map((id) => runWithRequestContext(requestOf(), () => ask(id))));
  expect(found, `seed ${seed}, ${subject.policy.model} ${ids} ${JSON.stringify(query)}`).toEqual(expected);
  return expected[0] as string;
}

async function askOne(subject: Subject, queries: RandomQueries, samples: Samples): Promise<string> {
  const { rules, model } = subject.policy;
  const reading = queries.pick(['list', 'paginated', 'paginated', 'get'] as const);
  if (reading === 'list') return agreed(subject, reading, queries.list(rules));
  const ids = (samples[model] ?? []).map(({ id }) => String(id));
  if (reading === 'get') {
    const missing = '00000000-0000-4000-8000-0000000000ff';
    const query = queries.record(rules);
    const [first, ...others] = [1, 2, 3].map(() => queries.pick([...ids, missing])) as [string, string, string];
    return subject.together
      ? agreedTogether(subject, query, [first, ...others])
      : agreed(subject, reading, query, first);
  }
  const query = queries.page(rules);
  const answer = await agreed(subject, reading, query);
  const next = /"nextCursor":"([\w-]+)"/.exec(answer)?.[1];
  return next === undefined ? answer : agreed(subject, reading, { ...query, cursor: next });
}

/**
 * Asks until `wanted` queries were answered with 200; queries that a policy refuses are asked too.
 *
 * @param mostLeft share of the reads that the reader may leave to the ORM
 */
async function differ(subjects: readonly Subject[], counts: ReaderCounts, mostLeft: number): Promise<void> {
  const samples = await samplesOf(subjects);
  const queries = new RandomQueries(randomNumbers(seed), samples);
  let answered = 0;
  for (let asked = 0; answered < wanted && asked < wanted * 5; asked++) {
    const answer = await askOne(queries.pick(subjects), queries, samples);
    if (answer.startsWith('200')) answered += 1;
  }
  expect(answered).toBe(wanted);
  expect(counts.left.failed).toBe(0);
  expect(counts.left.shape / counts.read).toBeLessThanOrEqual(mostLeft);
}

describe.each(databaseProviders)(
  'answers on %s of which the database makes the JSON are those of the ORM',
  (provider) => {
    describe('for models with fields of every type', () => {
      const counts = new ReaderCounts();
      let open: EveryTypeApp & { close(): Promise<void> };
      let reader: OpenOrm;
      let subjects: Subject[];

      beforeAll(async () => {
        open = await models.open(provider, 'orm');
        await everyTypeRecords(open.client, randomNumbers(1));
        reader = await open.openReader(counts);
        subjects = subjectsOf([gadgetList, makerList, tagList, partList], open, reader);
      });
      afterAll(async () => {
        await reader.close();
        await open.close();
      });

      // SQLite holds decimals as binary numbers, whose JSON is not the ORM's.
      const mostLeft = provider === 'sqlite' ? 0.35 : 0;
      it(`byte for byte, whatever is asked (READER_SEED=${seed})`, () => differ(subjects, counts, mostLeft), 600_000);
    });

    describe('for the policies of the modules', () => {
      const counts = new ReaderCounts();
      let open: Awaited<ReturnType<typeof openEmptyDatabase>>;
      let reader: OpenOrm;
      let subjects: Subject[];

      beforeAll(async () => {
        open = await openEmptyDatabase(provider, { DATABASE_JSON_READS: false });
        await shopRecords(open.client, randomNumbers(2));
        reader = await openDatabase({ ...open.settings, DATABASE_JSON_READS: true }, { counts });
        subjects = subjectsOf(modulePolicies, open, reader);
      });
      afterAll(async () => {
        await reader.close();
        await open.close();
      });

      // Policies lead to those of other modules, which a service knows; rows of every tenant are compared.
      const compared = () => app.service.run(() => unscoped('both readers', () => differ(subjects, counts, 0)));
      it(`byte for byte, whatever is asked (READER_SEED=${seed})`, compared, 600_000);
    });
  },
);
