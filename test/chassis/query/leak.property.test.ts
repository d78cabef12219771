import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { productList, userList } from './policies.ts';
import { refusalOf } from './refusal-of.ts';

// Fields and relations that the models have and the policies do not declare where they are tried.
const undeclared = [
  'passwordHash',
  'email',
  'refreshTokens',
  'tokenHash',
  'categoryId',
  'description',
  'updatedAt',
  'userId',
];
// As long as an undeclared name, and the name of nothing.
const nothing = fc
  .array(fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'), { minLength: 4, maxLength: 20 })
  .map((letters) => `x${letters.join('')}`);
const value = fc.constantFrom<unknown>(
  'x',
  1,
  null,
  true,
  { equals: 'x' },
  { contains: 'x' },
  { some: {} },
  { is: {} },
  [],
  {},
);
const wrap = fc.array(fc.constantFrom('AND', 'OR', 'NOT', 'is', 'isNot', 'direct'), { maxLength: 4 });

function answers(parse: (name: string) => unknown, name: string): string {
  const { message, details, statusCode } = refusalOf(() => parse(name));
  return JSON.stringify({ message, details, statusCode }).replaceAll(name, '<name>');
}

function expectSameAnswer(parse: (name: string) => unknown, hidden: string, invented: string): void {
  expect(answers(parse, hidden)).toBe(answers(parse, invented));
}

/** Puts a condition below logic and relations: user -> profile -> user -> … */
function below(steps: string[], condition: unknown): unknown {
  return steps.reduceRight<unknown>((inner, step, index) => {
    if (step === 'AND' || step === 'OR') return { [step]: [inner] };
    if (step === 'NOT') return { NOT: inner };
    const relations = steps.slice(0, index).filter((other) => !['AND', 'OR', 'NOT'].includes(other)).length;
    return { [relations % 2 === 0 ? 'profile' : 'user']: step === 'direct' ? inner : { [step]: inner } };
  }, condition);
}

describe('a name that is not declared', () => {
  it('is answered in where like one that does not exist, at any depth and with any value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...undeclared), nothing, value, wrap, (hidden, invented, condition, steps) => {
        expectSameAnswer(
          (name) => userList.parseFind({ where: JSON.stringify(below(steps, { [name]: condition })) }),
          hidden,
          invented,
        );
      }),
    );
  });

  it('is answered in orderBy like one that does not exist', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...undeclared),
        nothing,
        fc.constantFrom('', 'user.', 'profile.'),
        (hidden, invented, prefix) => {
          expectSameAnswer(
            (name) => userList.parseFind({ orderBy: JSON.stringify({ [prefix + name]: 'asc' }) }),
            hidden,
            invented,
          );
        },
      ),
    );
  });

  it('is answered in include and select like one that does not exist, at any depth', () => {
    const templates = [
      (name: string) => ({ [name]: true }),
      (name: string) => ({ [name]: { select: { id: true } } }),
      (name: string) => ({ profile: { select: { [name]: true } } }),
      (name: string) => ({ profile: { include: { [name]: true } } }),
      (name: string) => ({ profile: { include: { user: { select: { [name]: false } } } } }),
      (name: string) => ({ profile: { include: { user: { include: { [name]: { take: 1 } } } } } }),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...undeclared),
        nothing,
        fc.constantFrom(...templates),
        (hidden, invented, template) => {
          expectSameAnswer((name) => userList.parseGet({ include: JSON.stringify(template(name)) }), hidden, invented);
        },
      ),
    );
  });

  it('is answered inside the options of an include like one that does not exist', () => {
    const templates = [
      (name: string) => ({ where: { [name]: 'x' } }),
      (name: string) => ({ orderBy: { [name]: 'asc' } }),
      (name: string) => ({ where: { category: { [name]: 'x' } } }),
    ];
    for (const template of templates) {
      const parse = (name: string) =>
        productList.parseGet({ include: JSON.stringify({ category: { include: { products: template(name) } } }) });
      for (const hidden of ['description', 'categoryId', 'updatedAt']) expectSameAnswer(parse, hidden, 'xnothing');
    }
  });

  it('is answered like one that does not exist when it is an operator', () => {
    for (const hidden of ['startsWith', 'gte', 'notIn', 'search']) {
      expectSameAnswer(
        (name) => userList.parseFind({ where: JSON.stringify({ name: { [name]: 'x' } }) }),
        hidden,
        'xnothing',
      );
    }
  });

  it('is answered like one that does not exist when every object has it', () => {
    for (const hidden of ['toString', 'valueOf', 'hasOwnProperty']) {
      expectSameAnswer((name) => userList.parseFind({ where: JSON.stringify({ [name]: 'x' }) }), hidden, 'xnothing');
      expectSameAnswer(
        (name) => userList.parseFind({ orderBy: JSON.stringify({ [name]: 'asc' }) }),
        hidden,
        'xnothing',
      );
      expectSameAnswer((name) => userList.parseGet({ include: JSON.stringify({ [name]: true }) }), hidden, 'xnothing');
    }
  });
});
