import type { Principal } from '../context/principal.ts';
import { currentPrincipal, getRequestContext } from '../context/request-context.ts';

/** What is stored of a job: its data, and where it comes from. */
export interface JobEnvelope {
  readonly payload: unknown;
  /** Of the request or run that sent it. */
  readonly requestId?: string;
  /** Of its trace (W3C Trace Context). */
  readonly traceparent?: string;
  /** Who sent it, with its sets as lists; only jobs with `principal: 'sender'` act as that. */
  readonly sender?: StoredPrincipal;
}

/** A principal as JSON holds it. */
type StoredPrincipal = Omit<Principal, 'roles' | 'scopes' | 'authenticatedAt'> & {
  readonly roles: string[];
  readonly scopes: string[];
  readonly authenticatedAt?: string | undefined;
};

/** What was stored of a job; undefined where it is no envelope, such as what another program has put into the table. */
export function readEnvelope(data: unknown): JobEnvelope | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { requestId, traceparent, sender } = data as Record<string, unknown>;
  const fits = isTextOrMissing(requestId) && isTextOrMissing(traceparent) && (sender === undefined || isStored(sender));
  return fits ? (data as JobEnvelope) : undefined;
}

function isTextOrMissing(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isStored(sender: unknown): boolean {
  const { userId, roles, scopes } = (sender ?? {}) as Record<string, unknown>;
  return typeof userId === 'string' && Array.isArray(roles) && Array.isArray(scopes);
}

/** Who sent a job, as it was then; undefined where nobody was authenticated. */
export function senderOf({ sender }: JobEnvelope): Principal | undefined {
  if (!sender) return undefined;
  const { roles, scopes, authenticatedAt, ...rest } = sender;
  const moment = authenticatedAt && { authenticatedAt: new Date(authenticatedAt) };
  return { ...rest, ...moment, roles: new Set(roles), scopes: new Set(scopes) };
}

/** Puts data with what is known of the request under way. */
export function envelopeOf(payload: unknown): JobEnvelope {
  const { requestId, traceId, spanId, sampled } = getRequestContext() ?? {};
  const principal = currentPrincipal();
  return {
    payload,
    ...(principal && { sender: storedForm(principal) }),
    ...(requestId !== undefined && { requestId }),
    ...(traceId !== undefined &&
      spanId !== undefined && { traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}` }),
  };
}

function storedForm({ roles, scopes, authenticatedAt, ...rest }: Principal): StoredPrincipal {
  const moment = authenticatedAt && { authenticatedAt: authenticatedAt.toJSON() };
  return { ...rest, ...moment, roles: [...roles], scopes: [...scopes] };
}
