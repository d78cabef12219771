import { IncomingMessage, ServerResponse } from 'node:http';
import { Stream } from 'node:stream';
import { describeError } from './describe-error.ts';
import { hasLongWord, shortestLong } from './long-words.ts';
import {
  allCredentials,
  bareCredentials,
  longCredential,
  secretAssignment,
  secretField,
  secretInValue,
  secretParameter,
  suspicious,
  suspiciousInUrl,
  token,
} from './secret-names.ts';

/** The names that a service masks beside those that are secret everywhere: `maskInLogs` adds to them. */
export class LogMasks {
  readonly #named = new Set<string>();
  /** Names of log fields and parameters are few, so each is tested once; the bound is for names that clients make up. */
  readonly #fields = new Map<string, boolean>();
  readonly #parameters = new Map<string, boolean>();

  /** Masks more names, in upper and lower case. */
  add(...names: string[]): void {
    for (const name of names) this.#named.add(name.toLowerCase());
    this.#fields.clear();
    this.#parameters.clear();
  }

  /** Whether the value of a field of this name is masked. */
  hasField(name: string): boolean {
    return this.#fields.get(name) ?? this.#learn(this.#fields, name, secretField);
  }

  /** Whether the value of a URL's parameter of this name is masked. */
  hasParameter(name: string): boolean {
    return this.#parameters.get(name) ?? this.#learn(this.#parameters, name, secretParameter);
  }

  #learn(known: Map<string, boolean>, name: string, secrets: RegExp): boolean {
    const secret = secrets.test(name) || this.#named.has(name.toLowerCase());
    if (known.size < 1_000 && name.length <= 64) known.set(name, secret);
    return secret;
  }
}

/** Characters of one text that a log, a span or a monitor gets at most. */
export const maximumText = 8_192;

/** Where the frames of a stack begin, behind its message. */
const stackFrames = /\n {4}at /;

/** What a parameter holds of a header, in which `+` may stand for a blank; the text for a search is shorter. */
const schemeInValue = /\b(?:bearer|basic)[\s+]+[\w.~+/=-]{16}/i;
const behindPath = /[?#]/;
/** Of a query and a fragment; in a path what stands between its slashes. */
const parameters = /[^&#]+/g;
const segments = /[^/;]+/g;
const assignment = /=|%(?:25)*3d/i;
/** How often a part of a URL may have been escaped, such as the address of a page within that of another. */
const mostEscapes = 3;
/** User and password before a host; no stretch between two slashes is looked at twice. */
const users = /\/\/[^/\s]*@/g;
/** The same in what a parameter holds, where its signs are often written by their numbers. */
const userInside = /\/\/[^/\s]*@/;
/** What stands before the slash is neither a host nor one with a port, so it is half of a password. */
const slashInPassword = /^[^/?#]*\/\/[^/:@\s]*:(?!\d{1,5}\/)[^/@\s]*\//;
const userWithoutScheme = /(?<![^\s,;"'()<>=])(?!mailto:)[^\s:@/,;"'()<>=]{1,64}:[^\s@/]{1,256}@/g;
/** Bytes in percent-encoding, and a percent sign behind which no such byte of ASCII stands. */
const encodedBytes = /(?:%[\da-f]{2})+/gi;
const unlikeAscii = /%(?![0-7][\da-f])/i;
const mostEntries = 1_000;
const maximumDepth = 6;
/** Where errors stand in a line, and with them what a library put into their messages, or a client into a name. */
const textNames = new Set(['message', 'stack', 'reason', 'error', 'cause', 'detail', 'path', 'userAgent']);

function holdsLong(text: string): boolean {
  return text.length >= shortestLong && hasLongWord(text) && longCredential.test(text);
}

function isSuspiciousUrl(url: string): boolean {
  return suspiciousInUrl.test(url) || holdsLong(url);
}

/** Whether a text has what any secret needs. */
export function isSuspicious(text: string): boolean {
  return suspicious.test(text) || holdsLong(text);
}

/** What stands in a log in the place of a secret. */
const redacted = '[redacted]';

/** Those of nobody in particular: the names that are secret everywhere. */
const commonMasks = new LogMasks();

/**
 * The same values with those under a secret's name masked, at any depth to six, in lists too: authorization, cookies,
 * passwords, tokens, secrets, API keys, and what `masks` name. What a name inside of them holds is masked as in a text: a
 * body of JSON that is sent as a form is the name of one field. Nothing is copied where nothing is masked, and the argument
 * is never changed.
 */
export function redact<T extends object>(values: T, masks = commonMasks): T {
  return redactObject(toLoggable(values, masks) as Record<string, unknown>, 0, masks) as T;
}

/** Of a request its method and URL: never the headers, the socket or the body. */
export function describeRequest(req: Partial<IncomingMessage> | undefined, masks = commonMasks): unknown {
  return req?.url === undefined ? req : { method: req.method, url: redactUrl(req.url, masks) };
}

/** Of a response its status. */
export function describeResponse(res: Partial<ServerResponse> | undefined): unknown {
  return res?.statusCode === undefined ? res : { status: res.statusCode };
}

/**
 * A URL with its user and password masked, the values of parameters (of query, fragment and path) that bear a secret's
 * name or hold JSON in which one is spoken of, JSON Web Tokens and API keys. Each character is looked at a bounded
 * number of times, whatever a client sends.
 */
export function redactUrl(url: string, masks = commonMasks): string {
  if (!isSuspiciousUrl(url)) return url;
  const bare = url.includes('//') ? maskUsers(url) : url;
  const end = bare.search(behindPath);
  if (end === -1) return maskPath(bare, masks);
  const query = bare.slice(end + 1).replace(parameters, (text) => maskParameter(text, masks));
  return `${maskPath(bare.slice(0, end), masks)}${bare.charAt(end)}${query}`;
}

/**
 * A text with the secrets masked that people and libraries put into messages: assignments such as `password=…`, user and
 * password of a connection string, query parameters that bear a secret's name, authorization values, JSON Web Tokens and
 * API keys. A long text is cut, and the time is in proportion to what is left of it.
 */
export function maskText(text: string, masks = commonMasks, maximum = maximumText): string {
  if (!isSuspicious(text)) return boundText(text, maximum);
  const bounded = boundText(text, maximum);
  return bounded
    .replace(hasLongWord(bounded) ? allCredentials : bareCredentials, (_found, scheme?: string) =>
      scheme ? `${scheme} ${redacted}` : redacted,
    )
    .replace(/\S+/g, (word) => maskWord(word, masks))
    .replace(secretAssignment, (_found, name: string, value: string) => `${name}${value.charAt(0)}${redacted}`);
}

/** The same of a stack, whose message and whose frames are each cut: a message without end does not cost the frames. */
export function maskStack(stack: string, masks = commonMasks, maximum = maximumText): string {
  const at = stack.length <= maximum ? -1 : stack.search(stackFrames);
  if (at === -1) return maskText(stack, masks, maximum);
  return maskText(stack.slice(0, at), masks, maximum) + maskText(stack.slice(at), masks, maximum);
}

/**
 * A text cut to its beginning, with a note of what it lacks; one that is short enough is returned as it is. It is a text of its
 * own: a part would keep the whole in memory, for as long as a span or a line holds it.
 */
export function boundText(text: string, maximum = maximumText): string {
  if (text.length <= maximum) return text;
  return Buffer.from(`${text.slice(0, maximum)}… (${text.length - maximum} characters left out)`).toString();
}

/** A word without any of these is no URL with a secret in it. */
function maskWord(word: string, masks: LogMasks): string {
  if (word.includes('?') || word.includes('//') || word.includes('#')) return redactUrl(word, masks);
  return word.includes('@') ? word.replace(userWithoutScheme, `${redacted}@`) : word;
}

/** What stands before a host ends at the last `@` before the path, or at a later one where a password holds a slash. */
function maskUsers(url: string): string {
  if (!url.includes('@')) return url;
  const at = url.lastIndexOf('@');
  if (!slashInPassword.test(url.slice(0, at))) return url.replace(users, `//${redacted}@`);
  return `${url.slice(0, url.indexOf('//') + 2)}${redacted}${url.slice(at)}`;
}

/** A path is told by its segments, and these by what they hold behind `;`. */
function maskPath(path: string, masks: LogMasks): string {
  if (!isSuspiciousUrl(path)) return path;
  return path.replace(segments, (segment) => maskParameter(segment, masks));
}

function maskParameter(parameter: string, masks: LogMasks): string {
  const written = parameter.indexOf('=');
  const encoded = parameter.indexOf('%');
  const equals = encoded !== -1 && (encoded < written || written === -1) ? parameter.search(assignment) : written;
  if (equals === -1) return holdsSecret(decoded(parameter)) ? redacted : parameter;
  const name = decoded(parameter.slice(0, equals));
  if (holdsSecret(name)) return redacted;
  const isSecret = masks.hasParameter(name) || holdsSecret(decoded(parameter.slice(equals + 1)));
  return isSecret ? `${parameter.slice(0, equals)}=${redacted}` : parameter;
}

/** Whether a text holds a JSON Web Token, an API key, or what follows the name of an authorization scheme. */
export function isCredential(text: string): boolean {
  return token.test(text) || holdsLong(text) || schemeInValue.test(text);
}

/** Of JSON, of a URL with a user or with parameters of its own, and of what holds a credential, the whole is masked. */
function holdsSecret(value: string): boolean {
  if (isCredential(value)) return true;
  if (value.includes('@') && userInside.test(value)) return true;
  return (value.includes('{') || value.includes('=')) && secretInValue.test(value);
}

function decoded(text: string): string {
  let plain = text;
  for (let escapes = 0; escapes < mostEscapes && plain.includes('%'); escapes += 1) plain = decodedOnce(plain);
  return plain;
}

/** Says nothing of what is malformed: an error for each of 680 parameters would take 5 ms. */
function decodedOnce(text: string): string {
  if (!unlikeAscii.test(text)) return decodeURIComponent(text);
  return text.replace(encodedBytes, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());
}

function redactObject(values: Record<string, unknown>, depth: number, masks: LogMasks): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in values) {
    const value = values[name];
    const safe = redactValue(name, value, depth, masks);
    // Those of a line itself are the program's; inside of it they may be what a client sent.
    const shown = depth === 0 ? name : maskText(name, masks);
    if (safe === value && shown === name) continue;
    copy ??= { ...values };
    if (shown !== name) delete copy[name];
    copy[shown] = safe;
  }
  return copy ?? values;
}

function redactValue(name: string, value: unknown, depth: number, masks: LogMasks): unknown {
  if (value !== undefined && masks.hasField(name)) return redacted;
  if (typeof value === 'string') return safeText(name, value, masks);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maximumDepth) return '[too deep]';
  if (Array.isArray(value)) return redactList(value, depth + 1, masks);
  const told = toLoggable(value, masks);
  return typeof told === 'object' && isPlain(told) ? redactObject(told, depth + 1, masks) : told;
}

function safeText(name: string, text: string, masks: LogMasks): string {
  if (!textNames.has(name)) return text.length > maximumText ? boundText(text) : text;
  return name === 'stack' ? maskStack(text, masks) : maskText(text, masks);
}

/** What a log tells of things that hold others, such as a connection with the headers that came by it. */
function toLoggable(value: object, masks: LogMasks): unknown {
  if (Object.getPrototypeOf(value) === Object.prototype) return value;
  if (value instanceof Error) return describeError(value);
  if (value instanceof IncomingMessage) return describeRequest(value, masks);
  if (value instanceof ServerResponse) return describeResponse(value);
  if (ArrayBuffer.isView(value)) return `[${value.constructor.name} of ${value.byteLength} bytes]`;
  return value instanceof Stream ? `[${value.constructor.name}]` : value;
}

function redactList(values: unknown[], depth: number, masks: LogMasks): unknown[] {
  const left = values.length - mostEntries;
  const kept = left > 0 ? values.slice(0, mostEntries) : values;
  const safe = kept.map((value) => redactValue('', value, depth, masks));
  if (left > 0) return [...safe, `${left} more`];
  return safe.every((value, index) => value === values[index]) ? values : safe;
}

/** What brings a `toJSON`, such as a Date, says itself what it tells. */
function isPlain(value: object | null): value is Record<string, unknown> {
  if (value === null) return false;
  return typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}
