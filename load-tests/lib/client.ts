import { check } from 'k6';
import http, { type RefinedResponse } from 'k6/http';
import { Counter, Trend } from 'k6/metrics';
import { target } from './target.ts';

/** Answers that say "not now", which a client may try again: 503 and 429. */
const refused = new Counter('refused_requests');
/** Milliseconds from the start of this run to each failure: the first and the last span the time of an outage. */
const failedAt = new Trend('failed_at');
const started = Date.now();

// Everything else is a failure, a redirect and a refusal too.
http.setResponseCallback(http.expectedStatuses(200));

/** A query: texts and numbers as they are, objects as JSON. */
export type Query = Record<string, string | number | object>;

export type Answer = RefinedResponse<'text'>;

/**
 * Asks for a path of the target.
 *
 * @param name groups requests whose addresses differ
 * @returns the answer if it has status 200
 */
export function get(path: string, name: string, query: Query = {}): Answer | undefined {
  const response = http.get(`${target}${path}${queryText(query)}`, {
    responseType: 'text',
    timeout: '10s',
    tags: { name },
  });
  if (check(response, { 'status is 200': ({ status }) => status === 200 })) return response;
  refused.add(response.status === 503 || response.status === 429 ? 1 : 0);
  failedAt.add(Date.now() - started);
  return undefined;
}

/** The body of an answer. */
export function bodyOf<T>(answer: Answer): T {
  return JSON.parse(answer.body) as T;
}

/** A query as it is written in an address. */
export function queryText(query: Query): string {
  const parts = Object.entries(query).map(
    ([name, value]) => `${name}=${encodeURIComponent(typeof value === 'object' ? JSON.stringify(value) : value)}`,
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
