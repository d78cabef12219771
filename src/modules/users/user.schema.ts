import { type AnyListPolicy, listPolicy, nameText, z } from 'slipway';
import type { Role } from '../auth/auth.types.ts';

// A user and its profile lead to each other, so their shapes and list policies stand in one file.

const role = z.enum(['admin', 'user']) satisfies z.ZodType<Role>;

const publicFields = z.object({
  id: z.uuid(),
  name: nameText(100),
  avatarUrl: z.string().nullable().describe('Path of the picture, below /uploads'),
  createdAt: z.date(),
});

const organizationId = z
  .uuid()
  .toLowerCase()
  .nullable()
  .describe('The tenant of the user; without one it is a tenant by itself');

const privateFields = z.object({ email: z.email(), role, organizationId, updatedAt: z.date() });

/** A user. E-mail address, role, organization and time of change are there for the user itself and for administrators. */
export const user = publicFields.extend(privateFields.partial().shape).meta({ id: 'User' });

/** Body of POST /users. The same bounds as registration (test/modules/users/user.schema.test.ts compares them). */
export const createUser = z
  .object({
    email: z
      .string()
      .trim()
      .toLowerCase()
      .max(254, { error: 'Expected at most 254 characters', abort: true })
      .check(z.email('Expected an e-mail address')),
    name: nameText(100),
    password: z.string().min(12, 'Expected at least 12 characters').max(128, 'Expected at most 128 characters'),
    role: role.default('user'),
    organizationId: organizationId.optional(),
  })
  .meta({ id: 'CreateUser' });

/** Body of PUT /users/:id. Users change their own `name`; the rest is for administrators. */
export const updateUser = createUser
  .extend({ role, revokeApiKeys: z.boolean().describe('Whether all API keys of the account end') })
  .partial()
  .meta({ id: 'UpdateUser' });

const text = (most: number) => z.string().trim().max(most, `Expected at most ${most} characters`).nullable();

/** A profile, which every user may see. */
export const profile = z
  .object({
    id: z.uuid(),
    userId: z.uuid('Expected the id of a user').toLowerCase(),
    bio: text(2000),
    location: text(200),
    createdAt: z.date(),
    updatedAt: z.date(),
  })
  .meta({ id: 'Profile' });

/** Body of POST /profiles. `userId` is the caller when left out; only an administrator may name another user. */
export const createProfile = profile
  .pick({ userId: true, bio: true, location: true })
  .partial()
  .meta({ id: 'CreateProfile' });

/** Body of PUT /profiles/:id. A profile stays with its user. */
export const updateProfile = createProfile.omit({ userId: true }).meta({ id: 'UpdateProfile' });

export type CreateUser = z.infer<typeof createUser>;
export type UpdateUser = z.infer<typeof updateUser>;
export type CreateProfile = z.infer<typeof createProfile>;
export type UpdateProfile = z.infer<typeof updateProfile>;

/** What every user may ask of others. */
export const publicUserList: AnyListPolicy = listPolicy('User', {
  record: publicFields,
  filter: {
    id: ['equals', 'in'],
    name: ['equals', 'in', 'contains'],
    createdAt: ['gte', 'lte'],
    profile: () => profileList,
  },
  sort: ['name', 'createdAt', 'profile.location'],
  include: { profile: () => profileList },
});

/** What a user may ask of itself, and an administrator of everybody. */
export const userList: AnyListPolicy = listPolicy('User', {
  record: publicFields.extend(privateFields.shape),
  filter: {
    id: ['equals', 'in'],
    email: ['equals', 'in', 'contains'],
    name: ['equals', 'in', 'contains'],
    role: ['equals'],
    organizationId: ['equals', 'in'],
    createdAt: ['gte', 'lte'],
    updatedAt: ['gte', 'lte'],
    profile: () => profileList,
  },
  sort: ['email', 'name', 'role', 'createdAt', 'updatedAt', 'profile.location'],
  include: { profile: () => profileList },
});

/** What every user may ask of profiles; of their users no more than other users may see. */
export const profileList: AnyListPolicy = listPolicy('Profile', {
  record: profile,
  filter: {
    id: ['equals', 'in'],
    userId: ['equals', 'in'],
    location: ['equals', 'in', 'contains'],
    createdAt: ['gte', 'lte'],
    user: () => publicUserList,
  },
  sort: ['location', 'createdAt', 'user.name'],
  include: { user: () => publicUserList },
});
