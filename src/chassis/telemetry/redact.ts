import { IncomingMessage, ServerResponse } from 'node:http';
import { Stream } from 'node:stream';
import { describeError } from './describe-error.ts';

const secretName = /cookie|^raw(?:headers|trailers)$|authorization|passw|token|secret|api[-_]?key/i;
const secretParameter = /passw|token|secret|signature|api[-_]?key|authorization|credential|^(?:code|key|sig|auth)$/i;
const secretInJson = /passw|token|secret|api[-_]?key|authorization|credential/i;
const credentials = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi;
const maximumDepth = 6;
/** Where errors stand in a line, and with them what a library put into their messages. */
const textNames = new Set(['message', 'stack']);
const known = new Map<string, boolean>();
const named = new Set<string>();

/** What stands in a log in the place of a secret. */
export const redacted = '[redacted]';

/**
 * Masks more fields in every log line, and parameters of these names in every logged URL: those that are secret or
 * personal in a module, e.g. `maskInLogs('iban', 'phone')`. Upper and lower case are the same.
 */
export function maskInLogs(...names: string[]): void {
  for (const name of names) named.add(name.toLowerCase());
  known.clear();
}

/**
 * The same values with those under a secret's name masked, at any depth to six, in lists too: authorization, cookies,
 * passwords, tokens, secrets, API keys, and what `maskInLogs` names. Nothing is copied where nothing is masked, and the
 * argument is never changed.
 */
export function redact<T extends object>(values: T): T {
  return redactObject(toLoggable(values) as Record<string, unknown>, 0) as T;
}

/** Of a request its method and URL: never the headers, the socket or the body. */
export function describeRequest(req: Partial<IncomingMessage> | undefined): unknown {
  return req?.url === undefined ? req : { method: req.method, url: redactUrl(req.url) };
}

/** Of a response its status. */
export function describeResponse(res: Partial<ServerResponse> | undefined): unknown {
  return res?.statusCode === undefined ? res : { status: res.statusCode };
}

/**
 * A URL with its user and password masked, and the values of query parameters that bear a secret's name or hold JSON in
 * which one is spoken of. Each character is looked at a bounded number of times, whatever a client sends.
 */
export function redactUrl(url: string): string {
  const bare = url.startsWith('/') ? url : maskUser(url);
  const query = bare.indexOf('?');
  if (query === -1) return bare;
  const fragment = bare.indexOf('#', query);
  const end = fragment === -1 ? bare.length : fragment;
  const parameters = bare
    .slice(query + 1, end)
    .split('&')
    .map(maskParameter);
  return `${bare.slice(0, query + 1)}${parameters.join('&')}${bare.slice(end)}`;
}

/**
 * A text with the secrets masked that libraries put into messages: user and password of a connection string, query
 * parameters that bear a secret's name, and authorization values.
 */
export function maskText(text: string): string {
  return text.replace(credentials, `$1 ${redacted}`).replace(/\S+/g, redactUrl);
}

function maskUser(url: string): string {
  const [scheme = '', rest] = url.split('//', 2);
  if (rest === undefined) return url;
  const [authority = ''] = rest.split('/', 1);
  const at = authority.lastIndexOf('@');
  return at === -1 ? url : `${scheme}//${redacted}${url.slice(scheme.length + 2 + at)}`;
}

function maskParameter(parameter: string): string {
  const equals = parameter.indexOf('=');
  if (equals === -1) return parameter;
  const name = decoded(parameter.slice(0, equals));
  const isSecret =
    secretParameter.test(name) || named.has(name.toLowerCase()) || holdsSecret(decoded(parameter.slice(equals + 1)));
  return isSecret ? `${parameter.slice(0, equals)}=${redacted}` : parameter;
}

function holdsSecret(value: string): boolean {
  return value.includes('{') && secretInJson.test(value);
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function redactObject(values: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in values) {
    const value = values[name];
    const safe = redactValue(name, value, depth);
    if (safe === value) continue;
    copy ??= { ...values };
    copy[name] = safe;
  }
  return copy ?? values;
}

function redactValue(name: string, value: unknown, depth: number): unknown {
  if (value !== undefined && isSecretName(name)) return redacted;
  if (typeof value === 'string') return textNames.has(name) ? maskText(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maximumDepth) return '[too deep]';
  if (Array.isArray(value)) return redactList(value, depth + 1);
  const told = toLoggable(value);
  return typeof told === 'object' && isPlain(told) ? redactObject(told, depth + 1) : told;
}

/** What a log tells of things that hold others, such as a connection with the headers that came by it. */
function toLoggable(value: object): unknown {
  if (Object.getPrototypeOf(value) === Object.prototype) return value;
  if (value instanceof Error) return describeError(value);
  if (value instanceof IncomingMessage) return describeRequest(value);
  if (value instanceof ServerResponse) return describeResponse(value);
  return value instanceof Stream ? `[${value.constructor.name}]` : value;
}

function redactList(values: unknown[], depth: number): unknown[] {
  const safe = values.map((value) => redactValue('', value, depth));
  return safe.every((value, index) => value === values[index]) ? values : safe;
}

/** Names of log fields are few, so each is tested once; the bound is for names that clients make up. */
function isSecretName(name: string): boolean {
  let secret = known.get(name);
  if (secret === undefined) {
    secret = secretName.test(name) || named.has(name.toLowerCase());
    if (known.size < 1_000) known.set(name, secret);
  }
  return secret;
}

/** What brings a `toJSON`, such as a Date, says itself what it tells. */
function isPlain(value: object | null): value is Record<string, unknown> {
  if (value === null || ArrayBuffer.isView(value)) return false;
  return typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}
