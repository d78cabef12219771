import { Guards } from 'slipway';
import type { Role } from './auth.types.ts';

/** What a route puts in front of its handler to say who may call it; in the cradle as `auth`. */
export class AuthGuard extends Guards<Role> {
  constructor({ accountProvider }: Pick<Slipway.Cradle, 'accountProvider'>) {
    super(accountProvider, { roles: ['admin', 'user'] });
  }
}
