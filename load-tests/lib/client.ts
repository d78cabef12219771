import { check, sleep } from 'k6';
import http, { type FileData, type RefinedResponse, type StructuredRequestBody } from 'k6/http';
import { Counter, Trend } from 'k6/metrics';
import { retries } from './options.ts';
import { target } from './target.ts';

/** Answers that say "not now", which a client may try again: 503 and 429. */
const refused = new Counter('refused_requests');
/** Requests that failed in any other way, or were refused however often they were sent. */
const lost = new Counter('lost_requests');
/** Milliseconds from the start of this run to each failure: the first and the last span the time of an outage. */
const failedAt = new Trend('failed_at');
const started = Date.now();

/** A query: texts and numbers as they are, objects as JSON. */
export type Query = Record<string, string | number | object>;

/** What a request is beside its path. */
export interface Asked {
  /** Groups requests whose addresses differ. */
  name: string;
  method?: string;
  query?: Query;
  /** Sent as JSON, or as it is when it is a form. */
  body?: object;
  form?: Record<string, FileData>;
  token?: string | undefined;
  /** Headers beside those of the token and the body. */
  headers?: Record<string, string>;
  /** Statuses that are right. Default: 200. */
  expected?: number[];
}

export type Answer = RefinedResponse<'text'>;

/**
 * Asks for a path of the target.
 *
 * @returns the answer if it has an expected status
 */
export function ask(path: string, asked: Asked): Answer | undefined {
  const { name, method = 'GET', query = {}, body, form, token, expected = [200] } = asked;
  const headers: Record<string, string> = { ...asked.headers };
  if (token) headers['Authorization'] = `Bearer ${token}`;
  if (body) headers['Content-Type'] = 'application/json';
  const send = () =>
    http.request(method, `${target}${path}${queryText(query)}`, body ? JSON.stringify(body) : toForm(form), {
      headers,
      responseType: 'text',
      timeout: '20s',
      tags: { name },
      // Everything else is a failure, a redirect and a refusal too.
      responseCallback: http.expectedStatuses(...expected),
    });
  const response = sendPatiently(send, expected);
  const isExpected = expected.includes(response.status);
  // Whether a service may say "not now" is for the profile to decide, by a threshold.
  if (!isRefusal(response)) check(response, { [`status is ${expected.join(' or ')}`]: () => isExpected });
  if (isExpected) return response;
  if (!isRefusal(response) || retries > 0) lost.add(1);
  // What k6 itself broke off, because a threshold ended the run, was answered by nobody.
  if (!isRefusal(response) && !response.error.includes('context canceled')) tell(name, method, response);
  return undefined;
}

/** Sends a request, and again after the time that `Retry-After` asks for, as often as the profile says. */
function sendPatiently(send: () => Answer, expected: number[]): Answer {
  for (let attempt = 0; ; attempt += 1) {
    const response = send();
    if (!expected.includes(response.status)) failedAt.add(Date.now() - started);
    if (!isRefusal(response)) return response;
    refused.add(1);
    const seconds = Number(response.headers['Retry-After']);
    if (attempt >= retries || !(seconds > 0)) return response;
    sleep(Math.min(seconds, 5));
  }
}

function isRefusal({ status }: Answer): boolean {
  return status === 503 || status === 429;
}

function toForm(form: Record<string, FileData> | undefined): StructuredRequestBody | undefined {
  return form as StructuredRequestBody | undefined;
}

/** k6 brings it; its types do not say so. */
declare const console: { warn(text: string): void };

const told = new Set<string>();

/** Says once for each user what a failed request was answered with; how many there were, the summary says. */
function tell(name: string, method: string, { url, status, error, body }: RefinedResponse<'text'>): void {
  const kind = `${name} ${status}`;
  if (told.has(kind)) return;
  told.add(kind);
  console.warn(`${name}: ${method} ${url} was answered ${status || error}: ${String(body ?? '').slice(0, 300)}`);
}

/** The body of an answer. */
export function bodyOf<T>(answer: Answer): T {
  return JSON.parse(answer.body) as T;
}

/** A query as it is written in an address. */
function queryText(query: Query): string {
  const parts = Object.entries(query).map(
    ([name, value]) => `${name}=${encodeURIComponent(typeof value === 'object' ? JSON.stringify(value) : value)}`,
  );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
