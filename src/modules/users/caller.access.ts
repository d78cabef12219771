import { currentPrincipal } from 'slipway';

/** The id of the authenticated caller; undefined without one. */
export function callerId(): string | undefined {
  return currentPrincipal()?.userId;
}

/** Whether the caller is an administrator. */
export function isAdmin(): boolean {
  return currentPrincipal()?.roles.has('admin') ?? false;
}

/** Whether the caller is the user with this id, or an administrator. */
export function isSelfOrAdmin(userId: string): boolean {
  return callerId() === userId || isAdmin();
}
