import { randomUUID } from 'node:crypto';
import { stableId } from './random.ts';
import { organizationIds } from './records.ts';

type Orm = Slipway.Orm['client'];

const isSample = ['admin@example.com', 'user@example.com'];
const named = { select: { id: true } } as const;
const versioned = { select: { id: true, version: true } } as const;
const password = 'quiet harbour, nine lanterns';

/**
 * What the API page offers in development, by operation id: identifiers of records that exist now, names that are not
 * taken, and the password of the sample accounts. What is deleted is not what other examples read or change.
 */
export async function sampleExamples(orm: Orm, demoPassword: string) {
  const mark = randomUUID().slice(0, 8);
  return {
    ...authExamples(demoPassword),
    ...(await userExamples(orm, mark)),
    ...(await catalogExamples(orm, mark)),
    ...(await orderExamples(orm)),
    ...(await stockExamples(orm)),
  };
}

function authExamples(demoPassword: string) {
  return {
    register: { body: { email: `${randomUUID().slice(0, 8)}@example.com`, password, name: 'New User' } },
    login: { body: { email: isSample[0], password: demoPassword } },
    reauthenticate: { body: { password: demoPassword } },
    refresh: { none: 'Copy `refreshToken` from the answer of your last login.' },
    endSession: { none: 'Copy an `id` from the list of sessions.' },
    revokeApiKey: { none: 'Copy an `id` from the list of API keys.' },
    changePassword: { none: 'The sample account keeps its password, so that the example of the login still works.' },
  };
}

async function userExamples(orm: Orm, mark: string) {
  const others = { email: { notIn: isSample } };
  const [event, withoutProfile, deletedUser, deletedProfile] = await Promise.all([
    orm.auditEvent.findFirst(named),
    orm.user.findFirst({ ...named, where: { profile: null } }),
    orm.user.findFirst({ ...named, where: { ...others, profile: { isNot: null } }, orderBy: { id: 'desc' } }),
    orm.profile.findFirst({ ...named, where: { user: others }, orderBy: { id: 'asc' } }),
  ]);
  const user = { path: { id: stableId('user', 1) } };
  const profile = { path: { id: stableId('profile', 1) } };
  return {
    getAuditEvent: known(event, 'No account has been changed yet; log in, confirm the password and reload the page.'),
    getUser: user,
    updateUser: { ...user, body: { name: 'Demo User' } },
    setAvatar: user,
    createUser: { body: { email: `${mark}@example.com`, name: 'New User', password, role: 'user' } },
    deleteUser: known(deletedUser),
    getProfile: profile,
    updateProfile: { ...profile, body: { bio: 'Collects lanterns.', location: 'Lisbon' } },
    createProfile: withoutProfile
      ? { body: { userId: withoutProfile.id, bio: 'Collects lanterns.', location: 'Lisbon' } }
      : { none: 'Every user has a profile.' },
    deleteProfile: known(deletedProfile),
  };
}

async function catalogExamples(orm: Orm, mark: string) {
  const [deletedCategory, deletedProduct] = await Promise.all([
    orm.category.findFirst({ ...named, where: { products: { none: {} } }, orderBy: { id: 'asc' } }),
    orm.product.findFirst({ ...named, orderBy: { id: 'desc' } }),
  ]);
  const category = { path: { id: stableId('category', 0) } };
  const product = { path: { id: stableId('product', 0) } };
  const newProduct = {
    ...{ sku: `NEW-${mark}`, name: 'New Lantern', description: 'Shines quietly.' },
    ...{ price: 1_900, categoryId: category.path.id },
  };
  return {
    createCategory: { body: { name: `New category ${mark}` } },
    getCategory: category,
    updateCategory: { ...category, body: { name: `Changed category ${mark}` } },
    deleteCategory: known(deletedCategory, 'Every category has products; create one and reload the page.'),
    listProducts: { query: { where: { sku: { in: ['SKU-000001', 'SKU-000002'] } } } },
    createProduct: { body: newProduct },
    getProduct: product,
    updateProduct: { ...product, body: { price: 2_100 } },
    deleteProduct: known(deletedProduct),
  };
}

/** Each operation on an order takes another one, because none of them can be done twice. */
async function orderExamples(orm: Orm) {
  const [tenantId] = organizationIds;
  const first = (status: 'draft' | 'placed' | 'expired', skip = 0) =>
    orm.order.findFirst({ ...versioned, where: { tenantId, status, deletedAt: null }, orderBy: { id: 'asc' }, skip });
  const [changed, placed, cancelled, deleted, paid, ended, payment] = await Promise.all([
    first('draft', 0),
    first('draft', 1),
    first('draft', 2),
    first('draft', 3),
    first('placed'),
    first('expired'),
    orm.payment.findFirst({ ...named, where: { tenantId } }),
  ]);
  const draft = 'There is no other draft; create one and reload the page.';
  return {
    createOrder: { body: { note: 'Gift wrap, please.', lines: [{ productId: stableId('product', 0), quantity: 1 }] } },
    getOrder: known(changed, draft),
    updateOrder: { ...knownVersion(changed, draft), body: { note: 'No gift wrap, please.' } },
    placeOrder: knownVersion(placed, draft),
    cancelOrder: knownVersion(cancelled, draft),
    deleteOrder: knownVersion(deleted, draft),
    payOrder: knownVersion(paid, 'Place an order and reload the page.'),
    followOrder: known(ended),
    getPayment: known(payment, 'Pay for an order and reload the page.'),
    settlePayment: { none: 'The payment provider sends it, with a signature.' },
  };
}

async function stockExamples(orm: Orm) {
  const [tenantId] = organizationIds;
  const [changed, deleted, products] = await Promise.all([
    orm.stock.findFirst({ ...versioned, where: { tenantId }, orderBy: { id: 'asc' } }),
    orm.stock.findFirst({ ...versioned, where: { tenantId }, orderBy: { id: 'desc' } }),
    orm.product.findMany({ ...named, where: { stock: { none: { tenantId } } }, orderBy: { id: 'asc' }, take: 3 }),
  ]);
  const [stocked, ...others] = products.map(({ id: productId }) => ({ productId, available: 10 }));
  const all = 'There is stock of every product.';
  return {
    createStock: stocked ? { body: stocked } : { none: all },
    createStockInBulk: others.length > 0 ? { body: { items: others } } : { none: all },
    getStock: known(changed),
    updateStock: { ...knownVersion(changed), body: { available: 500 } },
    deleteStock: knownVersion(deleted),
  };
}

/** A record whose change names the version that it is made to. */
function knownVersion(record: { id: string; version: number } | null, none?: string) {
  return { ...known(record, none), headers: { 'If-Match': `"${record?.version}"` } };
}

function known(record: { id: string } | null, none = 'There is no such record any more.') {
  return record ? { path: { id: record.id } } : { none };
}
