/** What a user may be. The role of a user is stored with it and travels in its access tokens. */
export type Role = 'admin' | 'user';

/** What an API key may be good for. */
export type Scope = 'catalog:write' | 'orders:read' | 'orders:write' | 'users:read';

declare global {
  namespace Slipway {
    interface Principal {
      /** The session that the caller's credentials belong to; undefined for callers without one. */
      readonly sessionId?: string | undefined;
    }
  }
}

/** The user behind a verified access token, and the session that it belongs to. */
export interface Caller {
  readonly userId: string;
  readonly role: Role;
  readonly sessionId: string;
  /** The organization of the user, or the user itself without one. */
  readonly tenantId: string;
  /** When the user last gave the password; undefined in tokens that were issued before they said so. */
  readonly authenticatedAt?: Date | undefined;
}

/** Where a session is used from. */
export interface Device {
  /** The client's address as rate limits count it: IPv6 by /64. */
  readonly address: string;
  readonly userAgent: string | undefined;
  /** Whether the account of a login had a session at this address lately. */
  readonly isKnown: boolean;
}

/** What the audit trail knows of. */
export type AuditAction =
  | 'account.registered'
  | 'account.created'
  | 'account.changed'
  | 'account.deleted'
  | 'login.succeeded'
  | 'login.failed'
  | 'password.confirmed'
  | 'password.refused'
  | 'password.changed'
  | 'session.ended'
  | 'session.reused'
  | 'sessions.ended'
  | 'apiKey.created'
  | 'apiKey.revoked';

/** An action, who did it and on which account. The audit trail adds time, address and request. */
export interface AuditEntry {
  readonly action: AuditAction;
  /** Default: the caller of the request under way. */
  readonly actorId?: string | undefined;
  readonly subjectId?: string | undefined;
  /** What changed, such as `role: user to admin`. No secrets. */
  readonly details?: string | undefined;
}
