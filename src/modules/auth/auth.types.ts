/** What a user may be. The role of a user is stored with it and travels in its access tokens. */
export type Role = 'admin' | 'user';

/** The user behind a verified access token. */
export interface Caller {
  readonly userId: string;
  readonly role: Role;
}
