import { z } from 'zod';
import { type CursorCodec, createCursorCodec } from '../../../src/chassis/query/paging/cursor.ts';
import { many } from '../../../src/chassis/query/policy/list-definition.ts';
import { listPolicy } from '../../../src/chassis/query/policy/list-policy.ts';

const id = z.uuid();

export const product = z.object({
  id,
  sku: z.string(),
  name: z.string(),
  price: z.int(),
  createdAt: z.date(),
});
export const category = z.object({ id, name: z.string() });
export const user = z.object({
  id,
  name: z.string(),
  avatarUrl: z.string().nullable(),
  role: z.enum(['user', 'admin']),
});
export const profile = z.object({ id, bio: z.string().nullable(), location: z.string().nullable() });

/** Policies of the real models that refer to each other in a circle, as modules write them. */
export const productList = listPolicy('Product', {
  record: product,
  filter: {
    sku: ['equals', 'in'],
    name: ['equals', 'contains'],
    price: ['equals', 'gte', 'lte'],
    createdAt: ['gte', 'lte'],
    category: () => categoryList,
  },
  sort: ['name', 'price', 'createdAt', 'category.name'],
  include: { category: () => categoryList },
});

export const categoryList = listPolicy('Category', {
  record: category,
  filter: { name: ['equals', 'contains'], products: many(() => productList) },
  sort: ['name', 'id'],
  include: { products: many(() => productList) },
});

export const userList = listPolicy('User', {
  record: user,
  filter: { name: ['contains'], avatarUrl: ['equals', 'not'], role: ['equals', 'in'], profile: () => profileList },
  sort: ['name', 'avatarUrl', 'profile.location'],
  include: { profile: () => profileList },
});

export const profileList = listPolicy('Profile', {
  record: profile,
  filter: { location: ['equals'], user: () => userList },
  sort: ['location', 'user.name'],
  include: { user: () => userList },
});

export const cursors: CursorCodec = createCursorCodec('a secret of the tests, 32 letters or more');
