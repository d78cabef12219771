import { from, fromAll, listPolicy, many, policyOf, z } from 'slipway';

export const orderStatus = z.enum(['draft', 'placed', 'paying', 'declined', 'paid', 'cancelled', 'expired']);
export const paymentStatus = z.enum(['pending', 'succeeded', 'failed']);

const cents = z.int32().nonnegative().describe('in cents');
const internalNote = z.string().max(1000).nullable().describe('For administrators');
const moments = { createdAt: z.date(), updatedAt: z.date() };

export const orderLine = z
  .object({
    id: z.uuid(),
    orderId: z.uuid(),
    productId: z.uuid().toLowerCase(),
    quantity: z.int32().min(1).max(10_000),
    price: cents,
    amount: z.int().nonnegative().describe('What the line costs, in cents'),
  })
  .meta({ id: 'OrderLine' });

const newLines = z
  .array(orderLine.pick({ productId: true, quantity: true }))
  .min(1)
  .max(100)
  .refine((lines) => new Set(lines.map((line) => line.productId)).size === lines.length, 'Expected each product once');

export const order = z
  .object({
    id: z.uuid(),
    number: z.string(),
    status: orderStatus,
    ownerId: z.uuid(),
    note: z.string().max(1000).nullable(),
    placedAt: z.date().nullable(),
    paidAt: z.date().nullable(),
    version: z.int32(),
    totalCents: z.int().nonnegative().describe('What all lines cost, in cents'),
    ...moments,
  })
  .meta({ id: 'Order' });

export const createOrder = z.object({ note: order.shape.note.optional(), lines: newLines }).meta({ id: 'CreateOrder' });
export const updateOrder = createOrder.extend({ internalNote }).partial().meta({ id: 'UpdateOrder' });

export const stock = z
  .object({
    id: z.uuid(),
    productId: z.uuid().toLowerCase(),
    available: z.int32().nonnegative(),
    reorderBelow: z.int32().nonnegative(),
    lowSince: z.date().nullable().describe('Since when there is less than reorderBelow'),
    version: z.int32(),
    ...moments,
  })
  .meta({ id: 'Stock' });

/** Leaves room in the column for what cancelled and expired orders give back. */
const mostStocked = 1_000_000_000;

export const createStock = stock
  .pick({ productId: true, available: true, reorderBelow: true })
  .extend({ available: stock.shape.available.max(mostStocked) })
  .partial({ reorderBelow: true })
  .meta({ id: 'CreateStock' });
export const updateStock = createStock.omit({ productId: true }).partial().meta({ id: 'UpdateStock' });

export const payment = z
  .object({
    id: z.uuid(),
    orderId: z.uuid(),
    amount: cents,
    status: paymentStatus,
    reason: z.string().nullable().describe('Why it was declined'),
    ...moments,
  })
  .meta({ id: 'Payment' });

/** What the payment provider tells of a charge; `reference` is the payment. */
export const paymentNotice = z
  .object({ reference: z.uuid(), status: paymentStatus.exclude(['pending']), reason: z.string().max(500).nullish() })
  .meta({ id: 'PaymentNotice' });

const isStorable = (text?: string | null) => !/[\0\p{Surrogate}]/u.test(text ?? '');

/** Why it declined, where it says so in a text that can be stored: an outcome counts also without. */
export const toldReason = paymentNotice.shape.reason.refine(isStorable).catch(null);

/** What its answer to a question for one payment has to tell, as a page of a proxy does not. */
export const noticeOf = (id: string) => paymentNotice.extend({ reference: z.literal(id), reason: toldReason });

/** The same of its answer to a charge. */
export const chargeOf = (id: string) => z.object({ reference: z.literal(id), status: paymentStatus });

export type OrderStatus = z.infer<typeof orderStatus>;
export type CreateOrder = z.infer<typeof createOrder>;
export type UpdateOrder = z.infer<typeof updateOrder>;
export type NewLine = CreateOrder['lines'][number];
export type PricedLine = Pick<z.infer<typeof orderLine>, 'productId' | 'quantity' | 'price'>;
export type PaymentNotice = z.infer<typeof paymentNotice>;

const orderLineList = listPolicy('OrderLine', {
  record: orderLine,
  computed: { amount: from(['price', 'quantity'], ({ price, quantity }) => price * quantity) },
  filter: { productId: ['equals', 'in'], quantity: ['gte', 'lte'], product: policyOf('catalog', 'Product') },
  sort: ['quantity'],
  include: { product: policyOf('catalog', 'Product') },
});

export const orderList = listPolicy('Order', {
  record: order.extend({ internalNote }),
  computed: { totalCents: fromAll(['id'], (orders, { orderLineRepository }) => orderLineRepository.totalsOf(orders)) },
  only: { internalNote: 'admin' },
  filter: {
    id: ['equals', 'in'],
    number: ['equals', 'in'],
    status: ['equals', 'in'],
    ownerId: ['equals', 'in'],
    placedAt: ['gte', 'lte'],
    createdAt: ['gte', 'lte'],
    lines: many(() => orderLineList),
  },
  sort: ['createdAt', 'placedAt', 'status', 'number'],
  search: ['number', 'note', 'internalNote'],
  include: { lines: many(() => orderLineList), payments: many(() => paymentList) },
});

export const stockList = listPolicy('Stock', {
  record: stock,
  filter: {
    id: ['equals', 'in'],
    productId: ['equals', 'in'],
    available: ['equals', 'gte', 'lte'],
    lowSince: ['equals', 'gte', 'lte'],
    product: policyOf('catalog', 'Product'),
  },
  sort: ['available', 'lowSince', 'createdAt', 'product.name'],
  search: ['product.name', 'product.sku'],
  include: { product: policyOf('catalog', 'Product') },
});

export const paymentList = listPolicy('Payment', {
  record: payment,
  filter: { id: ['equals', 'in'], orderId: ['equals', 'in'], status: ['equals', 'in'], order: () => orderList },
  sort: ['createdAt', 'status', 'order.number'],
  include: { order: () => orderList },
});
