/** In declared order. */
export const sizes = ['small', 'medium', 'large', 'giant'];
const anyData = [
  { b: 1, a: [1, { z: 2, c: 'x' }] },
  { a: [1, { c: 'x', z: 2 }], b: 1 },
  'text',
  123,
  true,
  null,
  [],
  { b: null },
];

/** A gadget in which every kind of value varies, and every nullable one is missing now and then. */
export function aGadget(number: number) {
  const maybe = <T>(value: T, every: number) => (number % every === 0 ? null : value);
  return {
    ...{ tenant: number % 2, number, name: `gadget ${number % 5}`, size: sizes[(number * 3) % 4] },
    ...{
      mood: maybe(sizes[(number * 7) % 4], 3),
      price: `${(number * 37) % 11}.${number % 7}5`,
      weight: maybe(`0.000${number % 6}`, 4),
    },
    ...{ stock: String(9_007_199_254_740_990n + BigInt(number % 9)), seen: maybe(String(-(number % 4)), 5) },
    ...{ data: anyData[number % anyData.length], extra: maybe([number % 3], 2) },
    ...{ madeAt: new Date(Date.UTC(2026, 0, 1 + (number % 6))).toISOString(), active: maybe(number % 4 === 1, 3) },
    ...{ soldAt: maybe(new Date(Date.UTC(2025, number % 5, 1)).toISOString(), 3), rating: maybe((number % 5) / 4, 6) },
  };
}
