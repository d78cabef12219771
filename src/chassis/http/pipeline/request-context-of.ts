import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Express, Request } from 'express';
import type { RequestContext } from '../../context/request-context.ts';
import type { RequestLine } from '../../errors/reporters/log-reporter.ts';
import { isCredential, type LogMasks, maskText, redactUrl } from '../../telemetry/redact.ts';

const maximumUrlLength = 2_048;
const maximumUserAgentLength = 512;
/** No address is longer, with its zone and a port. */
export const maximumAddressLength = 64;
const validId = /^[A-Za-z0-9._-]{1,128}$/;
/** The length of most ids, which are not looked at any further. */
const lengthOfUuid = 36;
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;
const contextKey = Symbol('request context');

const arrivalKey = Symbol('when it came');

type KnownRequest = Request & { [contextKey]?: OpenRequest; [arrivalKey]?: number };

/** Has the context of a request that waited before it began tell of the time when it came, in `performance.now()`. */
export function noteArrival(req: IncomingMessage, at: number): void {
  (req as KnownRequest)[arrivalKey] = at;
}

/** The context of a request; made now where no pipeline did. Holds also in listeners that run outside the request. */
export function requestContextOf(req: Request, masks?: LogMasks): OpenRequest & RequestContext {
  const request = req as KnownRequest;
  request[contextKey] ??= createContext(req, masks);
  return request[contextKey];
}

/**
 * The id that a request brings, if it is 1 to 128 characters of `[A-Za-z0-9._-]`, else a new one (spec.md: Other records). A
 * token or an API key is none: every log line of the request would tell it.
 */
export function requestIdOf({ headers }: IncomingMessage): string {
  const inbound = headers['x-request-id'];
  if (typeof inbound !== 'string' || !validId.test(inbound)) return randomUUID();
  return inbound.length > lengthOfUuid && isCredential(inbound) ? randomUUID() : inbound;
}

/**
 * Makes `req.signal` of an app's requests the signal of the request context: it aborts once the request is
 * abandoned. Node's own takes the closed stream of a request without a body for a client that has gone.
 */
export function requestSignal(app: Express): void {
  Object.defineProperty(app.request, 'signal', {
    configurable: true,
    get(this: Request) {
      return requestContextOf(this).signal;
    },
  });
}

/** Secrets in the query and in the user agent are masked here, once, so that no log or monitor ever sees them. */
function createContext(req: Request, masks: LogMasks | undefined): OpenRequest {
  return new OpenRequest({
    requestId: requestIdOf(req),
    method: req.method,
    url: redactUrl(beginningOf(req.originalUrl ?? req.url, maximumUrlLength), masks),
    userAgent: safeUserAgent(req.headers['user-agent']),
    ipAddress: ipAddressOf(req),
    isProbe: probePath.test(req.originalUrl ?? req.url),
    deadline: readDeadline(req.headers['x-request-deadline']),
    arrivedAt: (req as KnownRequest)[arrivalKey],
  });
}

/** Express is asked for whom it trusts only where somebody tells of another address. */
function ipAddressOf(req: Request): string | undefined {
  if (req.headers['x-forwarded-for'] === undefined) return req.socket.remoteAddress;
  return clientAddress(req, req.app.get('trust proxy fn'));
}

/**
 * What `X-Request-Deadline` says: when the caller stops waiting, in milliseconds since 1970, written as such or as a
 * date and time with its offset (RFC 3339). Undefined where the header is missing or says neither.
 */
export function readDeadline(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{12,14}$/.test(header)) return Number(header);
  const time = dateTime.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function safeUserAgent(text: string | undefined): string | undefined {
  return text === undefined ? undefined : maskText(beginningOf(text, maximumUserAgentLength));
}

/** A text cut to its beginning. Spans hold it until they are exported, and a part would keep all of what a client sent. */
function beginningOf(text: string, maximum: number): string {
  return text.length <= maximum ? text : ownText(text.slice(0, maximum));
}

/** What an address is made of, with a port too, and a name that stands for one, such as `unknown`. */
const addressText = /^[\w.:[\]%-]+$/;

/**
 * An address that a header tells, as a text of its own: a part of the header would keep all of it, for as long as limits
 * count for the address. Undefined for what is too long to be one; what else is none may be any text, also one with a secret.
 */
function toldAddress(address: string | undefined): string | undefined {
  if (address === undefined || address.length > maximumAddressLength) return undefined;
  return ownText(addressText.test(address) ? address : maskText(address));
}

/** A part of what came in the head of a request, as a text that keeps nothing of the rest. */
export function ownText(part: string): string {
  return Buffer.from(part, 'latin1').toString('latin1');
}

/** The paths of probes, which come every few seconds. */
export const probePaths = ['/livez', '/readyz'] as const;

/** One of them, with its query or without; `/` at its end is the same path, capitals are not. */
export const probePath = /^\/(?:livez|readyz)\/?(?:\?|$)/;

/** Whether the address of a hop, 0 being the one that is connected, belongs to a proxy that is trusted. */
export type TrustProxy = (address: string, hop: number) => boolean;

/**
 * The address that a request comes from, as far as trusted proxies tell it: the same as `req.ip` of Express, for what sees
 * requests before Express does, and without a list of all senders; undefined for what is too long to be one.
 */
export function clientAddress({ headers, socket }: IncomingMessage, isTrusted: TrustProxy): string | undefined {
  const forwarded = headers['x-forwarded-for'];
  let address = socket.remoteAddress;
  if (forwarded === undefined || address === undefined) return address;
  const senders = String(forwarded);
  let end = senders.length;
  for (let hop = 0; isTrusted(address, hop); hop += 1) {
    // The nearest sender stands last; who sends thousands has no more of them looked at than there are proxies.
    end = endOfSender(senders, end);
    if (end === 0) break;
    const start = senders.lastIndexOf(',', end - 1) + 1;
    address = senders.slice(start, end).trim();
    end = start;
  }
  return toldAddress(address);
}

const [blank, comma] = [0x20, 0x2c];

/** Where the last sender before `end` ends, behind which there may be commas and blanks; 0 where there is none. */
function endOfSender(senders: string, end: number): number {
  for (let at = end; at > 0; at -= 1) {
    const code = senders.charCodeAt(at - 1);
    if (code !== comma && code !== blank) return at;
  }
  return 0;
}

/** The fields of a context that the request itself tells. */
type ReceivedFields = Pick<RequestContext, 'requestId' | 'method' | 'url'> & {
  isProbe?: boolean;
  userAgent: string | undefined;
  ipAddress: string | undefined;
  deadline: number | undefined;
  /** In `performance.now()`; now by default. */
  arrivedAt?: number | undefined;
};

type Bill = (cost: number, context: RequestContext) => void;

/** The context that the pipeline makes of a request, with its clock and its signal. */
export class OpenRequest implements RequestContext {
  readonly requestId: string;
  readonly method: string;
  readonly url: string;
  declare readonly userAgent?: string;
  declare readonly ipAddress?: string;
  readonly startTime: Date;
  cost = 0;
  declare costOfCount?: number;
  /** Whether it came, at `startTime`, some time before it began. */
  declare readonly hasWaited?: boolean;
  declare readonly isProbe?: boolean;
  declare deadline?: number;
  declare recheck?: (() => Promise<void>) | undefined;
  /** Where requests have a line in the log. */
  declare line?: RequestLine;
  readonly #started: number;
  #aborting: AbortController | undefined;
  #abortReason: string | undefined;
  #onAbort: Set<() => void> | undefined;
  #bills: Bill[] | undefined;

  constructor({ requestId, method, url, userAgent, ipAddress, isProbe, deadline, arrivedAt }: ReceivedFields) {
    const now = performance.now();
    this.#started = arrivedAt ?? now;
    this.startTime = new Date(Date.now() - (now - this.#started));
    if (arrivedAt !== undefined) this.hasWaited = true;
    this.requestId = requestId;
    this.method = method;
    this.url = url;
    if (isProbe) this.isProbe = true;
    if (userAgent !== undefined) this.userAgent = userAgent;
    if (ipAddress !== undefined) this.ipAddress = ipAddress;
    if (deadline !== undefined) this.deadline = deadline;
  }

  /** Few requests are ever asked for their signal, so it is made when one is. */
  get signal(): AbortSignal {
    if (this.#aborting === undefined) {
      this.#aborting = new AbortController();
      if (this.#abortReason !== undefined) this.#aborting.abort(abortError(this.#abortReason));
    }
    return this.#aborting.signal;
  }

  get abortReason(): string | undefined {
    return this.#abortReason;
  }

  /** Seconds since the request came, by a clock that never jumps. */
  get seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  /** Charges the request with a further cost. */
  charge(cost: number): void {
    this.cost += cost;
    for (const bill of this.#bills ?? []) bill(cost, this);
  }

  /** Has `bill` told of each charge. */
  onCharge(bill: Bill): void {
    if (this.#bills === undefined) this.#bills = [bill];
    else this.#bills.push(bill);
  }

  /**
   * Lets go of its request and answer, which is complete: what Node makes for the connection belongs to the last request on it
   * and holds this for as long as the connection is idle.
   */
  end(): void {
    this.#bills = undefined;
    this.#onAbort = undefined;
    if (this.recheck) this.recheck = undefined;
  }

  /** Aborts the signal; one that is asked for later is aborted too. */
  abort(reason: string): void {
    this.#abortReason ??= reason;
    this.#aborting?.abort(abortError(reason));
    const listeners = this.#onAbort;
    this.#onAbort = undefined;
    for (const listener of listeners ?? []) listener();
  }

  /** Has `listener` told when the request is abandoned. @returns ends that */
  onAbort(listener: () => void): () => void {
    this.#onAbort ??= new Set();
    this.#onAbort.add(listener);
    return () => void this.#onAbort?.delete(listener);
  }
}

/** The error that an aborted signal is known by, e.g. to `fetch`. */
function abortError(reason: string): DOMException {
  return new DOMException(reason, 'AbortError');
}
