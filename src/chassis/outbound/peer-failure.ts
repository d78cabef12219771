import {
  BadGatewayException,
  type BaseException,
  GatewayTimeoutException,
  ServiceUnavailableException,
} from '../errors/exceptions.ts';

/** Why a call gave no answer. */
export type PeerFailureReason =
  | 'timeout'
  /** The deadline of the request, or other calls of the service that came first, left the attempt less time than it should have. */
  | 'deadline'
  | 'unreachable'
  | 'status'
  | 'too large'
  | 'unreadable'
  | 'circuit open'
  | 'too many calls'
  | 'closed';

interface PeerFailureDetails {
  reason: PeerFailureReason;
  status?: number | undefined;
  /** What the peer says to wait for, in milliseconds. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** A call that failed; `asException` makes of it what answers a request. */
export class PeerFailure extends Error {
  override readonly name = 'PeerFailure';
  readonly reason: PeerFailureReason;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor({ reason, status, retryAfterMs, cause }: PeerFailureDetails) {
    super(status === undefined ? reason : `${reason} ${status}`, { cause });
    this.reason = reason;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether it says that the peer is not well, so that the circuit breaker counts it. */
  get isOfPeer(): boolean {
    return this.reason === 'timeout' || this.reason === 'unreachable' || (this.status ?? 0) >= 500;
  }

  /** Whether the same call may succeed soon. */
  get isTransient(): boolean {
    if (this.reason === 'status') return transientStatuses.has(this.status ?? 0);
    return this.reason === 'timeout' || this.reason === 'unreachable';
  }
}

const transientStatuses: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/** What is known of a call, for the log. */
export interface PeerCall {
  peer: string;
  method: string;
  /** The template, without what fills it. */
  path: string;
  attempts: number;
}

/** The exception of a failed call. Peer and status are in its context, which is logged and never sent. */
export function peerException(failure: PeerFailure, call: PeerCall): BaseException {
  const { reason, status, cause, retryAfterMs } = failure;
  const context = { peer: { ...call, reason, ...(status !== undefined && { status }) } };
  const options = { cause: cause ?? failure, context };
  const wait = { 'Retry-After': String(Math.max(1, Math.ceil((retryAfterMs ?? 0) / 1000))) };
  if (reason === 'timeout' || reason === 'deadline') return new GatewayTimeoutException(undefined, undefined, options);
  if (reason === 'too many calls' || reason === 'closed') {
    return new ServiceUnavailableException(undefined, undefined, { ...options, headers: wait });
  }
  const headers = reason === 'circuit open' || retryAfterMs !== undefined ? { headers: wait } : {};
  return new BadGatewayException(undefined, undefined, { ...options, ...headers });
}
