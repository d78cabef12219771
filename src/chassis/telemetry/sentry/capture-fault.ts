import { captureException, getCurrentScope, type Scope, withIsolationScope } from '@sentry/node';
import type { RequestContext } from '../../context/request-context.ts';
import { BaseException } from '../../errors/exceptions.ts';
import { fieldOfError, ownFault } from '../own-fault.ts';
import { type LogMasks, maskText, redact } from '../redact.ts';
import { faultCulprit, faultFingerprint } from './fault-fingerprint.ts';

const maximumThrownLength = 500;
const maximumChainLength = 6;
/** Each error that was reported, and the request in which it was last. */
const reported = new WeakMap<Error, string | undefined>();
/** What the error handler adds to the context of an exception; here it stands in a context of its own. */
const contextFields = new Set(['requestId', 'traceId', 'spanId', 'method', 'url', 'userAgent', 'ipAddress']);

/** How a fault is reported. */
interface CaptureOptions {
  /** It ended the process: level fatal, not handled. */
  crash: boolean;
  /** Send the client's address as that of the user. */
  sendAddress: boolean;
  /** What is masked in the context of the exception beside what always is. */
  masks: LogMasks;
}

/**
 * Sends a fault to Sentry with the request that it happened in, once. Its title is the bug itself: an exception that only
 * wraps what was thrown is left out. All that is said of the request stays in a scope of this one event, so that requests
 * under way at the same time never mix.
 */
export function captureFault(fault: Error, context: RequestContext | undefined, options: CaptureOptions): void {
  const chain = causeChain(ownFault(fault));
  if (isRepeated(chain, context?.requestId)) return;
  const route = context === undefined ? 'no request' : `${context.method} ${context.route ?? '(no route)'}`;
  withIsolationScope((scope) => {
    scope.setTransactionName(route);
    const standIns = standInsOf(chain);
    scope.setFingerprint(faultFingerprint(standIns, route));
    // Without it Sentry shows the route beside the title once more, which is the transaction.
    const culprit = faultCulprit(standIns);
    if (culprit !== undefined) scope.addEventProcessor((event) => Object.assign(event, { culprit }));
    scope.setLevel(options.crash ? 'fatal' : 'error');
    if (context !== undefined) addRequest(scope, context, options.sendAddress);
    addFault(scope, fault, chain, options.masks);
    captureException(standIns[0], {
      mechanism: { type: options.crash ? 'uncaught_exception' : 'error_handler', handled: !options.crash },
    });
  });
}

/** An error and its causes that are errors too, outermost first, at most six. */
function causeChain(error: Error): Error[] {
  const chain = [error];
  for (;;) {
    const next = fieldOfError(chain.at(-1) as Error, 'cause');
    if (!(next instanceof Error) || chain.includes(next) || chain.length === maximumChainLength) return chain;
    chain.push(next);
  }
}

/**
 * Whether a fault was reported before: the same error, or one that has a cause in common with it, in the same request
 * or, for a crash outside a request, in any. An error that fails many requests, such as a connection that was refused
 * once and is waited for by all, counts for each of them.
 */
function isRepeated(chain: readonly Error[], requestId: string | undefined): boolean {
  const repeated = chain.some(
    (error) => reported.has(error) && (requestId === undefined || reported.get(error) === requestId),
  );
  for (const error of chain) reported.set(error, requestId);
  return repeated;
}

/**
 * Errors that say what those of a chain do. Sentry marks what it has captured and takes it once only, but an error that
 * fails two requests is two events; and it sends nothing where a field raises an error.
 */
function standInsOf(chain: readonly Error[]): Error[] {
  const standIns: Error[] = [];
  for (const error of chain.toReversed()) standIns.unshift(standIn(error, standIns[0]));
  return standIns;
}

function standIn(error: Error, cause?: Error): Error {
  const [name, message, stack] = (['name', 'message', 'stack'] as const).map((field) => {
    const value = fieldOfError(error, field);
    return typeof value === 'string' ? value : undefined;
  });
  const errors = fieldOfError(error, 'errors');
  const several = Array.isArray(errors) && errors.slice(0, maximumChainLength).filter((each) => each instanceof Error);
  return Object.assign(
    new Error(message ?? 'An error that cannot be read', { cause }),
    { name: maskText(name ?? 'Error'), stack },
    several && { errors: several.map((each) => standIn(each)) },
  );
}

function addRequest(scope: Scope, context: RequestContext, sendAddress: boolean): void {
  const { requestId, method, url, route, userAgent, ipAddress, userId, startTime, traceId, spanId } = context;
  const address = sendAddress ? ipAddress : undefined;
  scope.setTags({ request_id: requestId, method, route });
  scope.setUser({ ...(userId !== undefined && { id: userId }), ...(address !== undefined && { ip_address: address }) });
  scope.setContext('request_context', {
    requestId,
    method,
    url,
    route,
    userId,
    userAgent,
    ipAddress: address,
    startTime: startTime.toISOString(),
    durationMs: Date.now() - startTime.getTime(),
  });
  scope.setSDKProcessingMetadata({
    normalizedRequest: { method, url, ...(userAgent !== undefined && { headers: { 'user-agent': userAgent } }) },
  });
  // The active span goes before; this is for requests that nothing traces, whose ids are in log lines all the same.
  if (traceId !== undefined) {
    getCurrentScope().setPropagationContext({ traceId, sampleRand: 0, ...(spanId && { propagationSpanId: spanId }) });
  }
}

function addFault(scope: Scope, fault: Error, chain: readonly Error[], masks: LogMasks): void {
  const thrown = fieldOfError(chain.at(-1) ?? fault, 'cause');
  if (thrown !== undefined && !(thrown instanceof Error)) scope.setContext('thrown', { value: describeThrown(thrown) });
  if (!(fault instanceof BaseException)) return;
  scope.setTag('status', fault.statusCode);
  scope.setContext('response', { status_code: fault.statusCode });
  const operation = operationOf(fault, masks);
  if (operation !== undefined) scope.setContext('operation', operation);
}

function operationOf({ context = {} }: BaseException, masks: LogMasks): Record<string, unknown> | undefined {
  try {
    const fields = Object.entries(context).filter(([name]) => !contextFields.has(name));
    return fields.length > 0 ? redact(Object.fromEntries(fields), masks) : undefined;
  } catch {
    return { unreadable: true };
  }
}

/** A value that is no error and was thrown; of an object, which may hold anything, only the class. */
function describeThrown(thrown: unknown): string {
  return typeof thrown === 'object'
    ? Object.prototype.toString.call(thrown)
    : maskText(String(thrown).slice(0, maximumThrownLength));
}
