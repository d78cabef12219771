import { pick, randomNumbers, stableId } from './random.ts';
import { adjectives, categories, firstNames, lastNames, locations, materials, things } from './words.ts';

const firstDay = Date.UTC(2024, 0, 1);
const days = 730;
const millisecondsPerDay = 86_400_000;

/** The tenants of the sample accounts; the demo accounts belong to the first. */
export const organizationIds = [stableId('organization', 0), stableId('organization', 1)] as const;

/** The 50 categories of the products, and one without products, which can be deleted. */
export function categoryRecords() {
  return [...categories, 'Discontinued'].map((name, number) => ({
    id: stableId('category', number),
    name,
    ...times(number / categories.length),
  }));
}

/** Products `from` up to but not including `to`. Each is the same whatever the range is. */
export function* productRecords(from: number, to: number) {
  for (let number = from; number < to; number += 1) {
    const random = randomNumbers(number + 1);
    const name = `${pick(random, adjectives)} ${pick(random, materials)} ${pick(random, things)} ${number + 1}`;
    const category = Math.floor(random() * categories.length);
    yield {
      id: stableId('product', number),
      sku: `SKU-${String(number + 1).padStart(6, '0')}`,
      name,
      description: `${name} from our ${categories[category]} range. Delivered within three days.`,
      // Cheap things are more common than dear ones: 1.00 to 10,000.00, evenly on a logarithmic scale.
      price: Math.round(100 * 10_000 ** random()),
      categoryId: stableId('category', category),
      ...times(random()),
    };
  }
}

/** How much each organization has of the first 100 products, some of it less than it wants. */
export function stockRecords() {
  return organizationIds.flatMap((tenantId, organization) =>
    Array.from({ length: 100 }, (_, number) => {
      const random = randomNumbers(4_000_000 + 100 * organization + number);
      const available = Math.floor(random() * 1000);
      const moments = times(random());
      return {
        ...{ id: stableId('stock', 100 * organization + number), tenantId, productId: stableId('product', number) },
        ...{ available, reorderBelow: 50, lowSince: available < 50 ? moments.updatedAt : null, ...moments },
      };
    }),
  );
}

const orderCount = 40;

/** Drafts and placed orders of the demo accounts and some others, by turns of each organization. */
export function orderRecords() {
  return Array.from({ length: orderCount }, (_, number) => {
    const owner = number % 4;
    const moment = times(randomNumbers(5_000_000 + number)());
    const isPlaced = number % 8 > 3;
    return {
      ...{ id: stableId('order', number), tenantId: organizationIds[owner < 2 ? 0 : owner % 2] as string },
      ...{ ownerId: stableId('user', owner), number: `SAMPLE-${String(number + 1).padStart(4, '0')}`, note: null },
      ...{ status: isPlaced ? ('expired' as const) : ('draft' as const), placedAt: isPlaced ? moment.createdAt : null },
      ...moment,
    };
  });
}

/** Two lines for each order. */
export function orderLineRecords() {
  return Array.from({ length: 2 * orderCount }, (_, number) => {
    const [product] = productRecords(number, number + 1);
    return {
      ...{ id: stableId('order-line', number), orderId: stableId('order', Math.floor(number / 2)) },
      ...{ productId: stableId('product', number), quantity: 1 + (number % 5), price: product?.price ?? 0 },
    };
  });
}

/** The demo accounts, then as many others as are asked for. All have the same password. */
export function userRecords(count: number, passwordHash: string) {
  const demo = [
    account(0, 'admin@example.com', 'Demo Admin', 'admin'),
    account(1, 'user@example.com', 'Demo User', 'user'),
  ];
  const others = Array.from({ length: count - demo.length }, (_, index) => {
    const random = randomNumbers(1_000_000 + index);
    const [first, last] = [pick(random, firstNames), pick(random, lastNames)];
    return account(index + 2, `${first}.${last}.${index + 1}@example.com`.toLowerCase(), `${first} ${last}`, 'user');
  });
  return [...demo, ...others].map((user) => ({ ...user, passwordHash }));
}

/** One profile for each of the first `count` users. */
export function profileRecords(count: number) {
  return Array.from({ length: count }, (_, number) => {
    const random = randomNumbers(2_000_000 + number);
    const location = pick(random, locations);
    const bio = `Collects every ${pick(random, things).toLowerCase()} there is.`;
    return { id: stableId('profile', number), userId: stableId('user', number), bio, location, ...times(random()) };
  });
}

function account(number: number, email: string, name: string, role: 'admin' | 'user') {
  const organizationId = organizationIds[number < 2 ? 0 : number % 2];
  return {
    id: stableId('user', number),
    email,
    name,
    role,
    organizationId,
    ...times(randomNumbers(3_000_000 + number)()),
  };
}

/** A moment within the two years, given from 0 to 1. Set here, so that every run stores the same bytes. */
function times(share: number): { createdAt: Date; updatedAt: Date } {
  const moment = new Date(firstDay + Math.floor(share * days * millisecondsPerDay));
  return { createdAt: moment, updatedAt: moment };
}
