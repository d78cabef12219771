import { AsyncLocalStorage } from 'node:async_hooks';
import { RequestAbandonedException, ServiceUnavailableException } from '../errors/exceptions.ts';
import type { Service } from '../service.ts';
import { keyOfIPv6 } from './ipv6-key.ts';
import type { Acting, Principal } from './principal.ts';
import type { SharedWork } from './shared-work.ts';

/** What the code that runs now belongs to. */
export interface Scope {
  readonly service: Service | undefined;
  readonly request: RequestContext | undefined;
  /** Set within `runAs` and `unscoped`. */
  readonly acting?: Acting | undefined;
}

/** One storage for both, because entering one costs a request more than all that it holds. */
export const scopes = new AsyncLocalStorage<Scope>();

/** What is known of the request under way (spec.md: Other records). */
export interface RequestContext {
  readonly requestId: string;
  readonly method: string;
  /** Path and query as received, at most 2,048 characters; secrets in the query are masked. */
  readonly url: string;
  /** At most 512 characters, with secrets masked. */
  readonly userAgent?: string;
  /** The client's address, as far as TRUST_PROXY lets a proxy tell it. */
  readonly ipAddress?: string;
  readonly startTime: Date;
  /** Whether it asks if the service lives or is ready, which happens every few seconds. */
  readonly isProbe?: boolean;
  /** Of the trace that the request belongs to: 32 hexadecimal digits, as in `traceparent` (W3C Trace Context). */
  traceId?: string;
  /** The span of the request itself where it is recorded, else the caller's: 16 hexadecimal digits. */
  spanId?: string;
  /** Whether the trace is recorded, so that its id can be looked up. */
  sampled?: boolean;
  /** When the caller stops waiting, in milliseconds since 1970; passed on to the services that the request calls. */
  deadline?: number;
  /** Aborted when the client went away before the answer was complete. Made on first use. */
  readonly signal?: AbortSignal;
  /** Why the request was abandoned; undefined while its client waits. Cheaper to read than `signal`. */
  readonly abortReason?: string | undefined;
  /** Ends the work for this request at its next step, with `signal` and `abortReason`. */
  abort?(reason: string): void;
  /** Calls `listener` when the request is abandoned, unless it was already; gives what ends that. Cheaper than `signal`. */
  onAbort?(listener: () => void): () => void;
  /** What it has been charged with so far, and what adds to that; see `chargeRequest`. */
  readonly cost?: number;
  charge?(cost: number): void;
  /** What of the cost is for a total that is counted; see `countIsKnown`. */
  costOfCount?: number;
  /** Calls `bill` at each charge; what it raises ends the request. */
  onCharge?(bill: (cost: number, context: RequestContext) => void): void;
  /** Whether its answer may have many records, and whether it has room for them, for which others wait until it is made. */
  isLong?: boolean;
  hasRoom?: boolean;
  /** What to call once its answer is made or has failed; there while a list makes one. */
  endings?: (() => void)[] | undefined;
  /** Whether its answer is a stream, charged to its address; and whether that has so many that this one is to hold few rows. */
  isStreaming?: boolean;
  hasManyStreams?: boolean;
  /** The route template that serves the request, e.g. `/api/v1/products/:id`; set once a route matched. */
  route?: string;
  /** Id of the authenticated caller, for logs and limits; `setPrincipal` sets it. */
  userId?: string;
  /** Who calls by a credential that was verified and may have been revoked since; `claimCaller` sets it. */
  claimedUserId?: string;
  /** The authenticated caller; guards set it with `setPrincipal`, and `currentPrincipal()` reads it. */
  principal?: Principal;
  /** Who a test says to call; guards take it in place of credentials. Only `slipway/testing` sets it. */
  assumedPrincipal?: Principal;
  /** Asks the guards of the request again; see `recheckCaller`. */
  recheck?: (() => Promise<void>) | undefined;
}

/** The context of the request under way, readable anywhere below its handler (spec.md: Other records); undefined outside one. */
export function getRequestContext(): RequestContext | undefined {
  return scopes.getStore()?.request;
}

/** Runs `work` with `context` as the current request context, in the service that the caller belongs to or in `service`. */
export function runWithRequestContext<T>(
  context: RequestContext,
  work: () => T,
  service = scopes.getStore()?.service,
): T {
  return scopes.run({ service, request: context }, work);
}

/** Runs `work` outside the current request, for what is not its own doing. */
export function runOutsideRequest<T>(work: () => T): T {
  return scopes.run({ service: scopes.getStore()?.service, request: undefined }, work);
}

/**
 * Says what the request under way costs beside being received, as soon as that is known and before the work begins: its
 * client pays for it at rate limits and at overload. List policies compute the cost of their queries, and the controllers
 * of resources say it; a route with heavy work of its own says it itself. Does nothing outside a request.
 *
 * @param cost in units of finding one record by an index of the database, which takes about a millisecond
 * @throws TooManyRequestsException when the client has not that much left
 */
export function chargeRequest(cost: number): void {
  getRequestContext()?.charge?.(cost);
}

/**
 * Says that the total which the request under way asks for was known, so that its client need not pay for the count: a page
 * with one would pass for as costly as a search, which takes the database ten times as long.
 */
export function countIsKnown(): void {
  const context = getRequestContext();
  if (!context?.costOfCount) return;
  context.charge?.(-context.costOfCount);
  context.costOfCount = 0;
}

/**
 * An ordinary request costs no more than this, in the units of `chargeRequest`: a page of a list about 60. A point of a rate
 * limit pays for as much, and what costs more is costly.
 */
export const ordinaryCost = 100;

/** Whether a request has been charged with more than an ordinary one costs. */
export function isCostly(context: RequestContext | undefined): boolean {
  return context?.cost !== undefined && context.cost > ordinaryCost;
}

/** What the client of the request under way is counted under: see `clientKey`. */
export function currentClientKey(): string {
  return clientKey(getRequestContext()?.ipAddress);
}

/** Each request asks several times for the key of the same few addresses, and a server on `::` sees all of IPv4 written as IPv6. */
const clientKeys = new Map<string, string>();
const mostClientKeys = 1000;

/**
 * What a client address is counted under. An IPv6 subscriber has a /64 at least, all of which counts as one; an IPv4
 * address written as IPv6 counts as what it is.
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined || !address.includes(':')) return address ?? 'unknown';
  const known = clientKeys.get(address);
  if (known !== undefined) return known;
  const key = keyOfIPv6(address);
  if (clientKeys.size >= mostClientKeys) clientKeys.clear();
  clientKeys.set(address, key);
  return key;
}

/** The caller of work outside of requests, such as health checks and jobs. */
export const serviceKey = 'service';

/**
 * The caller that the work of a request is charged to: the authenticated user, else the address; no identifier of a user is
 * taken for an address. Work outside of requests is one client.
 */
export function callerKey(context: RequestContext | undefined): string {
  if (context === undefined) return serviceKey;
  const userId = context.userId ?? context.claimedUserId;
  return userId === undefined ? clientKey(context.ipAddress) : `user ${userId}`;
}

/** A request that waits for shared work; undefined stands for someone who always does. */
export type Waiter = RequestContext | undefined;

/** Somebody who always waits. */
const always = { waiters: [undefined] as readonly Waiter[] };
const waiting = new AsyncLocalStorage<SharedWork<Waiter> | typeof always>();

/**
 * Runs work to its end even when the client has gone, such as ending the sessions
 * of a stolen account. Everything else of a request stops before its next query once its client has gone.
 */
export function uninterrupted<T>(work: () => T): T {
  return waiting.run(always, work);
}

/** Runs work that several wait for, to its end while one of them does. */
export function sharedBy<T>(shared: SharedWork<Waiter>, work: () => T): T {
  return waiting.run(shared, work);
}

/** The shared work under way; undefined outside of any, and within `uninterrupted`. */
export function currentShare(): SharedWork<Waiter> | undefined {
  const shared = waiting.getStore();
  return shared && 'close' in shared ? shared : undefined;
}

/** Who waits for what the caller asks for: its request, or always somebody outside of one and within `uninterrupted`. */
export function currentWaiter(): Waiter {
  return waiting.getStore() ? undefined : getRequestContext();
}

/**
 * Who waits for the work under way; somebody who always does where it is `uninterrupted` or belongs to no request. To be
 * asked again later with `isAbandoned`.
 */
export function currentWaiters(): readonly Waiter[] {
  const shared = waiting.getStore();
  if (shared) return shared.waiters;
  const context = getRequestContext();
  return context ? [context] : always.waiters;
}

/** Whether none of these requests waits any more: their clients have gone, their answers were given or their deadlines passed. */
export function isAbandoned(waiters: readonly Waiter[]): boolean {
  return waiters.every((waiter) => waiter !== undefined && isOver(waiter));
}

function isOver({ abortReason, deadline }: RequestContext): boolean {
  return abortReason !== undefined || (deadline !== undefined && Date.now() >= deadline);
}

/**
 * Ends a request for which no further query or call makes sense. Does nothing outside a request, within `uninterrupted`,
 * and in a shared read while another request waits for it.
 *
 * @throws RequestAbandonedException when its client has gone or it was answered already, ServiceUnavailableException when
 * its deadline has passed
 */
export function stopAbandoned(): void {
  const context = getRequestContext();
  if (context === undefined) return;
  const { abortReason, deadline } = context;
  if (abortReason === undefined && (deadline === undefined || Date.now() < deadline)) return;
  if (!isAbandoned(currentWaiters())) return;
  // Who asks from now on would get an error of others.
  currentShare()?.close();
  if (abortReason !== undefined) throw new RequestAbandonedException(abortReason);
  throw new ServiceUnavailableException('The deadline of the request has passed');
}

/**
 * Who acts now, anywhere below a guard or `runAs`; undefined where nobody was authenticated, and outside of requests, such
 * as in a timer.
 */
export function currentPrincipal(): Principal | undefined {
  const scope = scopes.getStore();
  return scope?.acting ? scope.acting.principal : scope?.request?.principal;
}

/** Whether `unscoped` surrounds the caller. */
export function isUnscoped(): boolean {
  return scopes.getStore()?.acting?.unscopedReason !== undefined;
}

/**
 * Sets the caller of the request under way: for guards, once they have verified credentials. The id is in its log lines and
 * spans from then on; roles, scopes and what else a principal carries are in none.
 *
 * @throws Error outside a request
 */
export function setPrincipal(principal: Principal): void {
  const context = getRequestContext();
  if (!context) throw new Error('Expected a request context, found none; guards run behind the request pipeline.');
  context.principal = principal;
  context.userId = principal.userId;
}

/**
 * Says whose credential the request under way has, once its signature was verified and before the database is asked whether
 * it still holds: what is asked for that counts with the work of this user. Counted with the client's address it would be a
 * second share of the database, which costs whoever waits beside it. Does nothing outside of a request.
 */
export function claimCaller(userId: string): void {
  const context = getRequestContext();
  if (context) context.claimedUserId = userId;
}

/**
 * Asks the guards of the request under way again whether its caller may go on, and is still the same: for answers that take
 * longer than a session, a role or a token may last. Does nothing where no guard let the request in.
 *
 * @throws what a guard refuses a new request with
 */
export async function recheckCaller(): Promise<void> {
  await getRequestContext()?.recheck?.();
}
