/** A service to be made. */
export interface ServicePlan {
  readonly name: string;
  readonly database: 'both' | 'postgresql';
  readonly auth: Auth;
  /** Where npm finds the chassis. */
  readonly slipway: string;
}

/**
 * Who may call: who has a token of the service's settings, whom an identity provider knows, or everybody. The reference
 * service has accounts of its own.
 */
export type Auth = 'token' | 'issuer' | 'none' | 'accounts';
