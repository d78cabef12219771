import { z } from 'slipway';
import type { Scope } from './auth.types.ts';

/** All that an API key may be good for; each needs the role of its owner as well. */
export const scopes = [
  'catalog:write',
  'orders:read',
  'orders:write',
  'users:read',
] as const satisfies readonly Scope[];

const scopeList = z.array(z.enum(scopes)).min(1).max(scopes.length);

/** Body of POST /auth/api-keys. */
export const createApiKey = z
  .object({
    name: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .describe('What uses it, to tell it from others')
      .meta({ examples: ['nightly import'] }),
    scopes: scopeList,
    expiresInDays: z.int().min(1).max(365).default(90),
  })
  .meta({ id: 'CreateApiKey' });

const fields = {
  id: z.uuid(),
  name: z.string(),
  scopes: scopeList,
  expiresAt: z.date(),
  createdAt: z.date(),
};

/** An API key as its owner sees it. */
export const apiKey = z
  .object({ ...fields, lastUsedAt: z.date().nullable().describe('To a minute; null for one that was never used') })
  .meta({ id: 'ApiKey' });

/** What creation answers: the key itself is shown this once. */
export const newApiKey = z
  .object({ ...fields, key: z.string().describe('To be sent as X-API-Key; it cannot be shown again') })
  .meta({ id: 'NewApiKey' });

export type CreateApiKey = z.infer<typeof createApiKey>;
export type ApiKey = z.infer<typeof apiKey>;
export type NewApiKey = z.infer<typeof newApiKey>;
