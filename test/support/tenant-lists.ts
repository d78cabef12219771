import { z } from 'zod';
import { many } from '../../src/chassis/query/policy/list-definition.ts';
import { type AnyListPolicy, ListPolicy } from '../../src/chassis/query/policy/list-policy.ts';

const order = z.object({
  id: z.int32(),
  number: z.string(),
  ownerId: z.string(),
  status: z.enum(['draft', 'placed']),
  customerId: z.int32(),
  reviewerId: z.int32().nullable(),
  createdBy: z.string().nullable(),
  updatedBy: z.string().nullable(),
  version: z.int32(),
});
const customer = z.object({ id: z.int32(), name: z.string() });
const line = z.object({ id: z.int32(), label: z.string(), orderId: z.int32() });
const tag = z.object({ id: z.int32(), name: z.string() });
const reviewer = z.object({ id: z.int32(), name: z.string() });

export const orderList: AnyListPolicy = new ListPolicy('Order', {
  record: order,
  filter: {
    ...{ number: ['equals', 'contains', 'in'], status: ['equals'], customer: () => customerList },
    ...{ lines: many(() => lineList), tags: many(() => tagList), reviewer: () => reviewerList },
  },
  sort: ['number', 'status', 'customer.name', 'reviewer.name'],
  include: {
    ...{ customer: () => customerList, lines: many(() => lineList) },
    ...{ tags: many(() => tagList), reviewer: () => reviewerList },
  },
});
export const customerList: AnyListPolicy = new ListPolicy('Customer', {
  record: customer,
  filter: { name: ['equals', 'contains'], orders: many(() => orderList) },
  sort: ['name'],
  include: { orders: many(() => orderList) },
});
export const lineList: AnyListPolicy = new ListPolicy('Line', {
  record: line,
  filter: { label: ['equals'], order: () => orderList },
  sort: ['label', 'order.number', 'order.status'],
  include: { order: () => orderList },
});
export const tagList: AnyListPolicy = new ListPolicy('Tag', {
  record: tag,
  filter: { name: ['equals'], orders: many(() => orderList) },
  sort: ['name'],
  include: { orders: many(() => orderList) },
});
export const reviewerList: AnyListPolicy = new ListPolicy('Reviewer', {
  record: reviewer,
  filter: { name: ['equals'], orders: many(() => orderList) },
  sort: ['name'],
  include: { orders: many(() => orderList) },
});

/** The lists of the shop by their paths. */
export const shopLists = {
  '/orders': orderList,
  '/customers': customerList,
  '/lines': lineList,
  '/tags': tagList,
  '/reviewers': reviewerList,
};
