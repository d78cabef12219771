import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getRequestContext } from '../../context/request-context.ts';
import { traceHeaders } from './trace-context.ts';

/** Where undici, which is inside `fetch`, announces a request before it is sent. */
const channel = 'undici:request:create';

interface OutgoingRequest {
  /** Names and values by turns, or lines; as the version of undici has it. */
  headers: readonly unknown[] | string;
  addHeader(name: string, value: string): void;
}

/**
 * Has every `fetch` inside a request carry its id, its deadline and its trace, as far as the caller set no such header.
 *
 * @returns what ends it
 */
export function sendContextOnFetch(): () => void {
  subscribe(channel, addHeaders);
  return () => void unsubscribe(channel, addHeaders);
}

function addHeaders(message: unknown): void {
  const context = getRequestContext();
  if (context === undefined) return;
  const { request } = message as { request: OutgoingRequest };
  const names = headerNames(request.headers);
  const add = (name: string, value: string) => {
    if (!names.has(name)) request.addHeader(name, value);
  };
  add('x-request-id', context.requestId);
  if (context.deadline !== undefined) add('x-request-deadline', String(context.deadline));
  for (const [name, value] of Object.entries(traceHeaders(context) ?? {})) add(name, value);
}

function headerNames(headers: OutgoingRequest['headers']): Set<string> {
  const names =
    typeof headers === 'string'
      ? headers.split('\r\n').map((line) => line.slice(0, line.indexOf(':')))
      : headers.filter((_, index) => index % 2 === 0);
  return new Set(names.map((name) => String(name).toLowerCase()));
}
