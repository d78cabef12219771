import { describe, expect, it } from 'vitest';
import { dataModelOf } from '../../../../src/chassis/database/models/data-model.ts';
import { writeRead } from '../../../../src/chassis/database/statements/write-statement.ts';
import type { Filter } from '../../../../src/chassis/query/query-types.ts';

const dataModel = dataModelOf(`
  model Shelf {
    id     Int    @id
    books  Book[]
  }
  model Book {
    id       Int     @id
    title    String
    shelfId  Int
    shelf    Shelf   @relation(fields: [shelfId], references: [id])
    authorId Int
    author   Author  @relation(fields: [authorId], references: [id])
    loans    Loan[]
  }
  model Loan {
    id     Int   @id
    bookId Int
    book   Book  @relation(fields: [bookId], references: [id])
  }
  model Author {
    id    Int     @id
    name  String
    books Book[]
  }`);

function booksOfShelves(provider: 'postgresql' | 'sqlite', where: Filter | undefined): string {
  const books = { select: { id: true }, where, orderBy: [{ title: 'asc' }], take: 1 };
  return writeRead({ provider, dataModel, schema: 'public' }, 'Shelf', { select: { id: true, books }, take: 9 }).sql;
}

describe('a statement for the related records of each record', () => {
  it.each<[string, Filter]>([
    ['one record beside', { author: { name: 'a' } }],
    ['many records beside', { loans: { some: { id: 1 } } }],
    ['either, in a choice', { OR: [{ title: 'a' }, { author: { name: 'a' } }] }],
    ['parts of texts', { title: { contains: 'a' } }],
    ['other parents', { shelfId: { in: [1, 2] } }],
    ['what they are not', { NOT: { shelfId: 1 } }],
  ])(
    'finds those of the record by %s before it sorts them, lest PostgreSQL walk through those of all in the order',
    (_to, where) => {
      expect(booksOfShelves('postgresql', where)).toMatch(/ OFFSET 0\) AS "t\d" ORDER BY /);
      expect(booksOfShelves('sqlite', where)).not.toContain('OFFSET');
    },
  );

  it.each<[string, Filter | undefined]>([
    ['without a filter', undefined],
    ['by certain values', { AND: [{ title: 'a' }, { shelfId: { equals: 1 } }] }],
  ])('leaves the order of reading to the database %s', (_by, where) => {
    expect(booksOfShelves('postgresql', where)).not.toContain('OFFSET');
  });
});
