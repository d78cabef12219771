import { either, Guards } from 'slipway';
import { scopes } from './api-key.schema.ts';
import type { Role, Scope } from './auth.types.ts';

/** What a route puts in front of its handler to say who may call it; in the cradle as `auth`. */
export class AuthGuard extends Guards<Role, Scope> {
  constructor({ accountProvider, apiKeyProvider }: Pick<Slipway.Cradle, 'accountProvider' | 'apiKeyProvider'>) {
    super(either(accountProvider, apiKeyProvider), { roles: ['admin', 'user'], scopes });
  }
}
