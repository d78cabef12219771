import { once } from 'node:events';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { bootTestApp } from '../../../support/boot-test-app.ts';
import { openMetrics, seriesOf } from './scrape.ts';

const app = await bootTestApp({ env: { METRICS_SERIES_LIMIT: '40' } });
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let before: Record<string, number> = {};
const scrape = async () => seriesOf((await app.internal.get('/metrics')).text);

/** What changed since the last call, apart from buckets. */
async function changes(pattern: RegExp): Promise<Record<string, number>> {
  const now = await scrape();
  const changed = Object.entries(now).filter(
    ([series, value]) => pattern.test(series) && value !== (before[series] ?? 0),
  );
  const differences = changed.map(([series, value]) => [series, value - (before[series] ?? 0)]);
  before = now;
  return Object.fromEntries(differences);
}

const counts = /^http_request_duration_seconds_count/;

async function send(method: string, path: string): Promise<void> {
  const [response] = await once(request(app.url + path, { method }).end(), 'response');
  await once(response.resume(), 'end');
}

afterEach(() => changes(/./));

describe('http_request_duration_seconds', () => {
  it('counts requests by method, route template and status', async () => {
    await changes(/./);
    await app.get('/api/v1/products', { where: { price: { lte: 5 } } });
    await app.get('/api/v1/products/nothing-here');
    await app.get('/api/v1/products/nothing-there');
    await app.post('/auth/login', { email: 'admin@example.com' });
    expect(await changes(counts)).toEqual({
      'http_request_duration_seconds_count{method="GET",route="/api/v1/products",status="200"}': 1,
      'http_request_duration_seconds_count{method="GET",route="/api/v1/products/:id",status="404"}': 2,
      'http_request_duration_seconds_count{method="POST",route="/auth/login",status="400"}': 1,
    });
  });

  it('has one label for all that no route takes', async () => {
    for (const path of ['/a', '/b/c', '/api/v1/nothing', '/%00', '/%zz', '/..%2f']) await app.get(path);
    expect(await changes(/^http_request_duration_seconds_count.*GET/)).toEqual({
      'http_request_duration_seconds_count{method="GET",route="unmatched",status="400"}': 1,
      'http_request_duration_seconds_count{method="GET",route="unmatched",status="404"}': 5,
    });
  });

  it('has one label for all methods that HTTP does not know, which every path refuses', async () => {
    for (const method of 'PROPFIND LOCK COPY MOVE MKCOL SEARCH REPORT MERGE PURGE LINK UNLINK BIND ACL'.split(' ')) {
      for (const path of ['/a', '/api/v1/products']) await send(method, path);
    }
    expect(await changes(counts)).toEqual({
      'http_request_duration_seconds_count{method="_OTHER",route="unmatched",status="404"}': 13,
      'http_request_duration_seconds_count{method="_OTHER",route="/api/v1/products",status="405"}': 13,
    });
  });

  it('names the paths of the chassis itself, and the route that does not take a method', async () => {
    await app.get('/livez');
    await app.get('/api-docs.json');
    await app.get('/uploads/nothing.png');
    await app.get('/api-docs/swagger-ui.css');
    await app.delete('/api/v1/products');
    expect(Object.keys(await changes(counts)).toSorted()).toEqual([
      'http_request_duration_seconds_count{method="DELETE",route="/api/v1/products",status="405"}',
      'http_request_duration_seconds_count{method="GET",route="/api-docs.json",status="200"}',
      'http_request_duration_seconds_count{method="GET",route="/api-docs/*",status="200"}',
      'http_request_duration_seconds_count{method="GET",route="/livez",status="200"}',
      'http_request_duration_seconds_count{method="GET",route="/uploads/*",status="404"}',
    ]);
  });

  it('shows the trace of a request that is recorded as exemplar, in OpenMetrics only', async () => {
    // A request is counted once its whole answer is there; its headers may come before, as those of a compressed one do.
    const ask = async (path: string, parent: string) =>
      (await fetch(`${app.url}${path}`, { headers: { traceparent: parent } })).text();
    await ask('/api/v1/categories', traceparent);
    await ask('/api/v1/users', traceparent.replace(/1$/, '0'));
    const scraped = await app.internal.send((server) => server.get('/metrics').set('Accept', openMetrics));
    expect(scraped.headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    const lines = scraped.text.split('\n').filter((line) => line.includes(' # {'));
    expect(lines).toEqual([
      expect.stringMatching(
        /route="\/api\/v1\/categories".* # \{trace_id="4bf92f3577b34da6a3ce929d0e0e4736"\} \d\.\d+ \d+\.\d+$/,
      ),
    ]);
    expect((await app.internal.get('/metrics')).text).not.toContain('trace_id');
  });
});

describe('body sizes', () => {
  const sizes = /^http_(request|response)_size_bytes_(sum|count)/;

  it('count what was declared', async () => {
    const body = JSON.stringify({ email: 'a@example.com', password: 'x' });
    const response = await app.post('/auth/login', JSON.parse(body));
    const length = Number(response.headers['content-length']);
    const labels = '{method="POST",route="/auth/login",status="401"}';
    expect(await changes(sizes)).toEqual({
      [`http_request_size_bytes_sum${labels}`]: body.length,
      [`http_request_size_bytes_count${labels}`]: 1,
      [`http_response_size_bytes_sum${labels}`]: length,
      [`http_response_size_bytes_count${labels}`]: 1,
    });
  });

  it('count what was sent where the answer is compressed, and nothing for HEAD', async () => {
    const get = request(`${app.url}/api/v1/products`, { headers: { 'accept-encoding': 'gzip' } }).end();
    const [response] = await once(get, 'response');
    const compressed = Buffer.concat(await response.toArray());
    expect(gunzipSync(compressed).length).toBeGreaterThan(compressed.length);
    await app.send((server) => server.head('/api/v1/products'));
    const changed = await changes(sizes);
    const sent = changed['http_response_size_bytes_sum{method="GET",route="/api/v1/products",status="200"}'] ?? 0;
    expect(sent - compressed.length).toBeGreaterThan(0);
    expect(sent - compressed.length).toBeLessThan(2000);
    expect(
      changed['http_response_size_bytes_sum{method="HEAD",route="/api/v1/products",status="200"}'],
    ).toBeUndefined();
    expect(changed['http_response_size_bytes_count{method="HEAD",route="/api/v1/products",status="200"}']).toBe(1);
  });
});

describe('exceptions_total', () => {
  it('counts exceptions by class and status', async () => {
    await app.get('/api/v1/products/nothing');
    await app.get('/api/v1/products', { where: '{' });
    expect(await changes(/^exceptions_total/)).toEqual({
      'exceptions_total{exception="NotFoundException",status="404"}': 1,
      'exceptions_total{exception="BadRequestException",status="400"}': 1,
    });
  });
});

describe('the database', () => {
  it('is measured by model and operation', async () => {
    await app.get('/api/v1/categories/00000000-0000-4000-8000-000000000000');
    expect(await changes(/^database_query_duration_seconds_count.*Category/)).toEqual({
      'database_query_duration_seconds_count{model="Category",operation="findUnique"}': 1,
    });
  });

  it('has no pool on SQLite', async () => {
    expect(Object.keys(await scrape()).filter((series) => series.startsWith('database_pool'))).toEqual([]);
  });
});

describe('METRICS_SERIES_LIMIT', () => {
  it('bounds what clients can make of methods and paths, and counts what was left out', async () => {
    const paths = ['/a', '/api/v1/products', '/api/v1/products/1', '/api/v1/categories', '/api/v1/categories/1'];
    for (const method of 'PROPFIND TRACE PATCH POST PUT DELETE HEAD OPTIONS QUERY'.split(' ')) {
      for (const path of paths) await send(method, path);
    }
    const series = await scrape();
    expect(Object.keys(series).filter((name) => counts.test(name))).toHaveLength(40);
    expect(series['metrics_series_dropped_total{metric="http_request_duration_seconds"}']).toBeGreaterThan(0);
  });
});
