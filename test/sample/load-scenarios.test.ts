import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogue, scenarioNames } from '../../load-tests/lib/catalogue.ts';
import { root, skipped } from '../chart/chart.ts';
import { type PlantedFault, startProxy } from '../load-tests/load-proxy.ts';
import {
  admin,
  failedChecks,
  type Measured,
  measureScenario,
  runScenario,
  unlimited,
} from '../load-tests/run-scenario.ts';
import { bootTestApp, type TestApp } from '../modules/support/boot-test-app.ts';
import { ordersEnv } from '../modules/support/order-shop.ts';

interface ListBody {
  page: number;
  total: number;
  data: { id: string; name: string }[];
}

/** The second is where scenarios write, so that the lists of the first stay as they are. */
const [app, written] = (
  skipped('k6')
    ? []
    : await Promise.all([bootTestApp({ env: { ...unlimited, ...ordersEnv() } }), bootTestApp({ env: unlimited })])
) as [TestApp, TestApp];

describe.skipIf(skipped('k6'))(`a load test${skipped('k6')}`, () => {
  it('has an entry in the catalogue for each scenario', () => {
    const files = readdirSync(join(root, 'load-tests/scenarios')).map((file) => basename(file, '.ts'));
    expect(files.toSorted()).toEqual(scenarioNames.toSorted());
  });

  describe.concurrent('of a list', () => {
    it.each([
      'list-shallow',
      'list-deep-page',
      'list-deep-cursor',
      'list-filtered-wide',
      'list-filtered-narrow',
      'list-sorted-by-relation',
      'list-include',
      'find-list',
      'read-one',
      'error-mix',
    ])('%s finds the contract kept and nothing failed', async (scenario) => {
      const run = await measureScenario(scenario, app.url);
      expect(run).toMatchObject({ scenario, resource: '/api/v1/products', records: 1_000 });
      expect(run.failed, run.said).toBe(0);
      expect(failedChecks(run)).toEqual([]);
      expect(run.checks.length).toBeGreaterThan(1);
      expect(run.requests).toBeGreaterThan(0);
    });

    it.each(['users', 'profiles', 'categories'])(
      'is of any other, such as %s, without a line for it',
      async (resource) => {
        const run = await measureScenario('list-deep-cursor', app.url, { ...admin, RESOURCE: resource });
        expect(run.resource).toBe(`/api/v1/${resource}`);
        expect(run.failed, run.said).toBe(0);
        expect(failedChecks(run)).toEqual([]);
      },
    );
  });

  describe.concurrent('that writes', () => {
    it.each(['write-mix', 'upload', 'day'])('%s reads what it wrote, and nothing failed', async (scenario) => {
      const run = await measureScenario(scenario, written.url, admin);
      expect(run.failed, run.said).toBe(0);
      expect(failedChecks(run)).toEqual([]);
    });
  });

  describe.concurrent('finds a fault that was planted', () => {
    /** What a scenario measures behind a proxy with a fault. */
    async function measured(scenario: string, fault: PlantedFault): Promise<Measured> {
      await using proxy = await startProxy(scenario === 'write-mix' ? written.url : app.url, fault);
      return await measureScenario(scenario, proxy.url, admin);
    }

    const found = async (scenario: string, fault: PlantedFault) => failedChecks(await measured(scenario, fault));

    it('a row that is on two pages', async () => {
      const change = repeatLast();
      const repeat: PlantedFault = { answer: ({ url, text }) => onPage(url, text, change) };
      expect(await found('list-shallow', repeat)).toContain('no record twice across pages');
    });

    it('a row that is on no page', async () => {
      // Only small pages lose it, as where the second of two queries sees what the first did not.
      const lose: PlantedFault = {
        answer: ({ url, text }) =>
          onPage(url, text, (body) => ({
            ...body,
            data: url.searchParams.has('pageSize') ? body.data : moved(body.data),
          })),
      };
      expect(await found('list-shallow', lose)).toContain('no record missing across pages');
    });

    it('a read that is older than the write of its client', async () => {
      expect(await found('write-mix', { answer: staleReads() })).toContain('a client reads its own writes');
    });

    it('a write that is acknowledged and lost', async () => {
      const lose: PlantedFault['answer'] = async ({ method, url, status, text }) => {
        const { id } = method === 'POST' && status === 201 ? (JSON.parse(text) as { data: { id?: string } }).data : {};
        if (id && url.pathname.endsWith('/products')) await written.orm.product.delete({ where: { id } });
        return text;
      };
      const run = await measured('write-mix', { answer: lose });
      expect(failedChecks(run)).toContain('status is 200');
      expect(run.said).toContain('read own: GET');
    });

    it.each([
      ['list-filtered-narrow', 'the page is as full as it can be'],
      ['list-deep-page', 'the page is as full as it can be'],
      ['find-list', 'the list is as long as it can be'],
    ])('a total that is off by one, by %s', async (scenario, check) => {
      const more = (body: ListBody) => ({ ...body, total: body.total + 1 });
      expect(await found(scenario, { answer: ({ url, text }) => onPage(url, text, more) })).toContain(check);
    });

    it('an order and a filter that do not hold', async () => {
      const shuffle: PlantedFault = {
        answer: ({ url, text }) => onPage(url, text, ({ data, ...rest }) => ({ ...rest, data: data.toReversed() })),
      };
      const checks = await found('list-filtered-wide', { ...shuffle, ask: (url) => url.searchParams.delete('where') });
      expect(checks).toContain('records are in order');
      expect(checks).toContain('every record passes the filter');
    });
  });

  describe.concurrent('whose users are told to try again', () => {
    /** A service that refuses the first request of each product, as one does that has too much to do. */
    async function hesitant(profile: string) {
      const asked = new Set<string>();
      const isFirst = ({ pathname }: URL) =>
        /[0-9a-f-]{36}$/.test(pathname) && asked.size < 3 && asked.size < asked.add(pathname).size;
      await using proxy = await startProxy(app.url, { refuse: isFirst });
      return await measureScenario('read-one', proxy.url, { PROFILE: profile, DURATION: '2s', RATE: '3' });
    }

    it('does so where they never pause, and loses nothing', async () => {
      expect(await hesitant('closed-32')).toMatchObject({ refused: 3, crossed: [] });
    });

    it('is reported where nobody comes to the end of a journey before k6 ends', { timeout: 90_000 }, async () => {
      const isOfJourney = ({ pathname, searchParams }: URL) =>
        pathname.endsWith('/paginated') && !searchParams.has('pageSize');
      await using proxy = await startProxy(app.url, { wait: (url) => (isOfJourney(url) ? 60_000 : 0) });
      const run = await measureScenario('list-shallow', proxy.url, { PROFILE: 'closed-32', RATE: '1' });
      expect(run).toMatchObject({ rate: 0, crossed: expect.arrayContaining(['lost_requests count==0']) });
    });

    it('counts a failure where they come when they are due', async () => {
      expect(await hesitant('smoke')).toMatchObject({ refused: 3, failed: 3, crossed: ['http_req_failed rate==0'] });
    });
  });

  describe.concurrent('refuses', () => {
    it('a target where nothing answers, and says what to do', async () => {
      const { code, stdout, stderr } = await runScenario('read-one', 'http://127.0.0.1:9');
      expect(stderr).toContain('nothing answers at http://127.0.0.1:9');
      expect(stderr).toContain('Start the service, or give BASE_URL of one that runs.');
      expect(stdout).toBe('');
      expect(code).toBe(108);
    });

    it('a list that there is not, is empty, is closed or lacks what the scenario is of', async () => {
      const refusal = async (scenario: string, resource: string) =>
        (await runScenario(scenario, app.url, { RESOURCE: resource })).stderr;
      const said = await Promise.all([
        refusal('read-one', 'lamps'),
        refusal('read-one', 'users'),
        refusal('list-search', 'categories'),
      ]);
      expect(said[0]).toContain('list of the service, by name or path: /auth/audit-events, /api/v1/');
      expect(said[1]).toContain('takes credentials: give LOAD_EMAIL and LOAD_PASSWORD, or TOKEN');
      expect(said[2]).toContain('/api/v1/categories has no search box (q), so list-search has nothing to do');
    });

    it('a profile and a rate that there are not', async () => {
      const refusal = async (variables: Record<string, string>) =>
        (await runScenario('read-one', 'http://127.0.0.1:9', variables)).stderr;
      expect(await refusal({ PROFILE: 'huge' })).toContain('smoke, load, stress');
      expect(await refusal({ RATE: 'many' })).toContain('got \\"many\\"');
    });
  });
});

function onPage(url: URL, text: string, change: (body: ListBody) => ListBody): string {
  return url.pathname.endsWith('/paginated') ? JSON.stringify(change(JSON.parse(text) as ListBody)) : text;
}

/** Puts the last row of each page in the place of the first of the next, as pages do that shift. */
function repeatLast(): (body: ListBody) => ListBody {
  const last = new Map<number, ListBody['data'][number]>();
  return (body) => {
    const [end, before] = [body.data.at(-1), last.get(body.page - 1)];
    if (end) last.set(body.page, end);
    return before ? { ...body, data: [before, ...body.data.slice(1)] } : body;
  };
}

/** Rows of which the first is one that no page of others has. */
function moved(data: ListBody['data']): ListBody['data'] {
  const [first, ...rest] = data;
  return first ? [{ ...first, id: first.id.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) }, ...rest] : data;
}

/** Answers each read of a record with what the first read of it gave. */
function staleReads(): NonNullable<PlantedFault['answer']> {
  const known = new Map<string, string>();
  return ({ method, url, text }) => {
    if (method !== 'GET' || !/[0-9a-f-]{36}$/.test(url.pathname)) return text;
    const first = known.get(url.pathname) ?? text;
    known.set(url.pathname, first);
    return first;
  };
}

describe('the catalogue of load tests', () => {
  it('tells each scenario in a phrase', () => {
    for (const { says } of Object.values(catalogue)) expect(says).toMatch(/^[a-z].{10,80}[^.]$/);
  });
});
