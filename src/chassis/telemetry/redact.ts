import { IncomingMessage, ServerResponse } from 'node:http';
import { Stream } from 'node:stream';
import { boundText, maximumText, stackFrames } from './bound-text.ts';
import { describeError } from './describe-error.ts';
import { secretAssignment, secretField, secretInJson, secretParameter, suspicious } from './secret-names.ts';

/** A JSON Web Token, wherever it stands, and what follows the name of an authorization scheme. */
const bareCredentials = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|\b(Bearer|Basic)\s+[\w.~+/=-]+/gi;
const mostEntries = 1_000;
const maximumDepth = 6;
/** Where errors stand in a line, and with them what a library put into their messages. */
const textNames = new Set(['message', 'stack', 'reason', 'error', 'cause', 'detail', 'userAgent']);
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
 * A text with the secrets masked that people and libraries put into messages: assignments such as `password=…`, user and
 * password of a connection string, query parameters that bear a secret's name, authorization values and JSON Web Tokens.
 * A long text is cut, and the time is in proportion to what is left of it.
 */
export function maskText(text: string): string {
  if (!suspicious.test(text)) return boundText(text);
  return boundText(text)
    .replace(bareCredentials, (_found, scheme?: string) => (scheme ? `${scheme} ${redacted}` : redacted))
    .replace(/\S+/g, maskWord)
    .replace(secretAssignment, (_found, name: string, value: string) => `${name}${value.charAt(0)}${redacted}`);
}

/** The same of a stack, whose message and whose frames are each cut: a message without end does not cost the frames. */
export function maskStack(stack: string): string {
  const at = stack.length <= maximumText ? -1 : stack.search(stackFrames);
  return at === -1 ? maskText(stack) : maskText(stack.slice(0, at)) + maskText(stack.slice(at));
}

/** A word without any of these is no URL with a secret in it. */
function maskWord(word: string): string {
  return word.includes('?') || word.includes('@') ? redactUrl(word) : word;
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
  if (typeof value === 'string') return safeText(name, value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maximumDepth) return '[too deep]';
  if (Array.isArray(value)) return redactList(value, depth + 1);
  const told = toLoggable(value);
  return typeof told === 'object' && isPlain(told) ? redactObject(told, depth + 1) : told;
}

function safeText(name: string, text: string): string {
  if (!textNames.has(name)) return text.length > maximumText ? boundText(text) : text;
  return name === 'stack' ? maskStack(text) : maskText(text);
}

/** What a log tells of things that hold others, such as a connection with the headers that came by it. */
function toLoggable(value: object): unknown {
  if (Object.getPrototypeOf(value) === Object.prototype) return value;
  if (value instanceof Error) return describeError(value);
  if (value instanceof IncomingMessage) return describeRequest(value);
  if (value instanceof ServerResponse) return describeResponse(value);
  if (ArrayBuffer.isView(value)) return `[${value.constructor.name} of ${value.byteLength} bytes]`;
  return value instanceof Stream ? `[${value.constructor.name}]` : value;
}

function redactList(values: unknown[], depth: number): unknown[] {
  const left = values.length - mostEntries;
  const safe = (left > 0 ? values.slice(0, mostEntries) : values).map((value) => redactValue('', value, depth));
  if (left > 0) return [...safe, `${left} more`];
  return safe.every((value, index) => value === values[index]) ? values : safe;
}

/** Names of log fields are few, so each is tested once; the bound is for names that clients make up. */
function isSecretName(name: string): boolean {
  let secret = known.get(name);
  if (secret === undefined) {
    secret = secretField.test(name) || named.has(name.toLowerCase());
    if (known.size < 1_000) known.set(name, secret);
  }
  return secret;
}

/** What brings a `toJSON`, such as a Date, says itself what it tells. */
function isPlain(value: object | null): value is Record<string, unknown> {
  if (value === null) return false;
  return typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}
