type Random = () => number;

// biome-ignore lint/suspicious/noExplicitAny: a client of any models
type Client = any;

const words = [
  'red',
  'Red',
  'größe',
  'ÄÖ',
  '100%',
  'a_b',
  "it's",
  '"q"',
  'back\\slash',
  '😀👍🏽',
  'tab\tnew\nline',
  '\u2028\u0001',
  '',
  'x',
];
const sizes = ['small', 'medium', 'large', 'giant'];

function drawer(random: Random) {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const maybe = <T>(value: T): T | null => (random() < 0.3 ? null : value);
  const moment = () =>
    pick([
      new Date(Date.UTC(2026, 0, 1) + Math.floor(random() * 5) * 86_400_000),
      new Date(Math.floor(random() * 4e12) - 2e12),
    ]);
  return { pick, maybe, moment, text: () => `${pick(words)} ${pick(words)}`.trim() };
}

const jsonValues = [
  { b: 1, a: [1, { c: null }], 10: 'ten', 2: 'two' },
  [1.5, 1e21, 1e-7, -0.1, 123456789012],
  'text "quoted" \u2028 😀',
  { a: { b: 'x' }, nested: { deep: [[], {}] }, ä: true },
  { a: [1, 'x'], b: false },
  0,
  false,
  {},
  [],
];

/** Records of every type, with every kind of value, nulls included. */
export async function everyTypeRecords(client: Client, random: Random): Promise<void> {
  const { pick, maybe, moment, text } = drawer(random);
  for (let number = 0; number < 5; number++) {
    await client.maker.create({ data: { name: text(), size: pick(sizes) } });
    await client.tag.create({ data: { name: `${text()} ${number}` } });
  }
  for (let number = 0; number < 40; number++) {
    const parts = Array.from({ length: Math.floor(random() * 4) }, () => ({ label: text() }));
    const tags = [1n, 2n, 3n, 4n, 5n].filter(() => random() < 0.3).map((id) => ({ id }));
    await client.gadget.create({
      data: {
        ...{ tenant: number % 3, number, name: text(), size: pick(sizes), mood: maybe(pick(sizes)) },
        ...{
          price: pick(['19.90', '0', '-1.5', '1234567890.1234', '100', '0.0001']),
          weight: maybe(pick(['0.00000001', '5.50', '-3'])),
        },
        ...{ stock: pick([0n, 5n, 9223372036854775807n]), seen: maybe(pick([-5n, -9223372036854775808n, 7n])) },
        ...{ data: pick(jsonValues), extra: pick([[1, 2], [], [3]]) },
        ...{ madeAt: moment(), soldAt: maybe(moment()), active: maybe(random() < 0.5) },
        ...{ rating: maybe(pick([0.1, 0.30000000000000004, 1e21, 1e-7, -0, 123456.789, 1e15])) },
        ...{
          maker: random() < 0.7 ? { connect: { id: 1 + Math.floor(random() * 5) } } : {},
          parts: { create: parts },
          tags: { connect: tags },
        },
      },
    });
  }
}

/** Records of the service's own models. */
export async function shopRecords(client: Client, random: Random): Promise<void> {
  const { pick, maybe, moment, text } = drawer(random);
  const categories: string[] = [];
  for (let number = 0; number < 6; number++) {
    categories.push((await client.category.create({ data: { name: `${text()} ${number}`, createdAt: moment() } })).id);
  }
  for (let number = 0; number < 60; number++) {
    const product = { sku: `${pick(words)}${number}`, name: text(), description: text(), price: number % 7 };
    await client.product.create({ data: { ...product, categoryId: pick(categories.slice(1)), createdAt: moment() } });
  }
  for (let number = 0; number < 30; number++) {
    const user = { email: `${number}@example.org`, passwordHash: 'x', name: text(), avatarUrl: maybe(text()) };
    const profile = random() < 0.6 && { profile: { create: { bio: maybe(text()), location: maybe(text()) } } };
    const { id } = await client.user.create({ data: { ...user, createdAt: moment(), ...profile } });
    const event = { action: pick(['account.created', 'account.changed']), actorId: maybe(id), subjectId: maybe(id) };
    await client.auditEvent.create({
      data: { ...event, details: maybe(text()), ipAddress: maybe('::1'), createdAt: moment() },
    });
    const session = { userId: id, tokenHash: 'x', address: '::1', userAgent: maybe(text()), authenticatedAt: moment() };
    await client.session.create({
      data: { ...session, lastUsedAt: moment(), expiresAt: moment(), endsAt: moment(), endedAt: maybe(moment()) },
    });
  }
}
