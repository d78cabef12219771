import { nameText, z } from 'slipway';
import type { Role } from './auth.types.ts';

const email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254, { error: 'Expected at most 254 characters', abort: true })
  .check(z.email('Expected an e-mail address'));

const newPassword = z
  .string()
  .min(12, 'Expected at least 12 characters')
  .max(128, 'Expected at most 128 characters')
  .meta({ examples: ['quiet harbour, nine lanterns'] });

/** Body of POST /auth/register. A role is no part of it: who registers is a `user`. */
export const register = z.object({ email, password: newPassword, name: nameText(100) }).meta({ id: 'Register' });

/** Body of POST /auth/login. Only bounds here: the rules of new passwords are no business of old ones. */
export const login = z.object({ email, password: z.string().min(1).max(128) }).meta({ id: 'Login' });

/** Body of POST /auth/refresh and POST /auth/logout. */
export const refresh = z.object({ refreshToken: z.string().min(1).max(128) }).meta({ id: 'Refresh' });

const revokeApiKeys = z.boolean().default(false).describe('Whether all API keys of the account end too');

/** Body of PUT /auth/password. */
export const changePassword = z
  .object({ currentPassword: z.string().min(1).max(128), newPassword, revokeApiKeys })
  .meta({ id: 'ChangePassword' });

/** Body of POST /auth/logout-all, which may be left out. */
export const logoutAll = z.object({ revokeApiKeys }).meta({ id: 'LogoutAll' });

/** Body of POST /auth/reauthenticate. */
export const reauthenticate = z.object({ password: z.string().min(1).max(128) }).meta({ id: 'Reauthenticate' });

/** What registration answers: the caller's own account. */
export const account = z
  .object({
    id: z.uuid(),
    email: z.string(),
    name: z.string(),
    role: z.enum(['admin', 'user']) satisfies z.ZodType<Role>,
  })
  .meta({ id: 'Account' });

/** A login that is alive. */
export const session = z
  .object({
    id: z.uuid(),
    address: z.string().describe('Where it was last used from; the network of an IPv6 address'),
    userAgent: z.string().nullable().describe('Of the client that logged in'),
    createdAt: z.date(),
    lastUsedAt: z.date().describe('When tokens were last exchanged'),
    expiresAt: z.date().describe('When it ends unless tokens are exchanged before'),
    current: z.boolean().describe("Whether it is the caller's own"),
  })
  .meta({ id: 'Session' });

/** What login, refresh and a change of the password answer. */
export const tokens = z
  .object({ accessToken: z.string(), refreshToken: z.string(), expiresIn: z.int().describe('seconds') })
  .meta({ id: 'Tokens' });

export type Register = z.infer<typeof register>;
export type Login = z.infer<typeof login>;
export type Refresh = z.infer<typeof refresh>;
export type ChangePassword = z.infer<typeof changePassword>;
export type LogoutAll = z.infer<typeof logoutAll>;
export type Session = z.infer<typeof session>;
export type Account = z.infer<typeof account>;
export type Tokens = z.infer<typeof tokens>;
