import { randomUUID } from 'node:crypto';
import { stableId } from './random.ts';

type Orm = Slipway.Orm['client'];

const isSample = ['admin@example.com', 'user@example.com'];
const named = { select: { id: true } } as const;
const password = 'quiet harbour, nine lanterns';

/**
 * What the API page offers in development, by operation id: identifiers of records that exist now, names that are not
 * taken, and the password of the sample accounts. What is deleted is not what other examples read or change.
 */
export async function sampleExamples(orm: Orm, demoPassword: string) {
  const mark = randomUUID().slice(0, 8);
  return { ...authExamples(demoPassword), ...(await userExamples(orm, mark)), ...(await catalogExamples(orm, mark)) };
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

function known(record: { id: string } | null, none = 'There is no such record any more.') {
  return record ? { path: { id: record.id } } : { none };
}
