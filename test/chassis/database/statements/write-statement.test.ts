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

describe('a statement for a later page', () => {
  const page = (provider: 'postgresql' | 'sqlite', skip: number) => {
    const read = { select: { title: true }, orderBy: [{ author: { name: 'asc' } }, { id: 'asc' }], take: 2, skip };
    return writeRead({ provider, dataModel, schema: 'public' }, 'Book', read).sql;
  };

  it('has SQLite sort the keys of all records before its end, and read the records of the page alone', () => {
    expect(page('sqlite', 2)).toMatch(/\(SELECT `t\d`\.`id` FROM .* LIMIT \? OFFSET \?\) AS `t\d` CROSS JOIN /);
    expect(page('sqlite', 0)).not.toContain('CROSS JOIN');
  });

  it('leaves that to PostgreSQL, which sorts on the disk what is too much for its memory', () => {
    expect(page('postgresql', 2)).not.toContain('JOIN "public"."Book"');
  });
});

describe('a statement for the records that have certain related ones', () => {
  const sqlOf = (where: Filter) =>
    writeRead({ provider: 'postgresql', dataModel, schema: 'public' }, 'Shelf', { select: { id: true }, where }).sql;
  const some = { books: { some: { title: 'a' } } };

  it('leaves the join to the database where the condition must hold', () => {
    for (const where of [some, { AND: [{ id: 1 }, some] }, { OR: [some] }]) {
      expect(sqlOf(where)).toContain('EXISTS(SELECT 1 FROM "public"."Book"');
    }
  });

  it.each<[string, Filter, string]>([
    ['one of several', { OR: [{ id: 1 }, some] }, '."k0" IS NOT NULL)'],
    ['below NOT', { NOT: some }, '(NOT "t4"."k0" IS NOT NULL)'],
    ['none of them, one of several', { OR: [{ id: 1 }, { books: { none: { title: 'a' } } }] }, '."k0" IS NULL)'],
    ['below every', { books: { every: { loans: { some: { id: 1 } } } } }, '(NOT "t5"."k0" IS NOT NULL)'],
  ])(
    'finds all of them once where it may not hold, %s, lest PostgreSQL search all for each record',
    (_where, where, condition) => {
      expect(sqlOf(where)).toMatch(/ LEFT JOIN \(SELECT DISTINCT "t\d"."(shelfId|bookId)" AS "k0" FROM /);
      expect(sqlOf(where)).toContain(condition);
    },
  );

  it('finds those of few records alone where the filter asks for certain values of theirs as well', () => {
    const sql = sqlOf({ AND: [{ id: 1 }, { OR: [{ id: 2 }, some] }] });
    expect(sql).toContain(
      'INNER JOIN "public"."Shelf" AS "t5" ON "t5"."id" = "t3"."shelfId" WHERE "t3"."title" = $1 AND "t5"."id" = $2)',
    );
  });

  it('takes no comparison of a record for one of a related record that has related ones itself', () => {
    const loaned = { shelf: { books: { some: { loans: { some: { id: 1 } } } } } };
    const where = { title: 'a', OR: [{ title: 'b' }, loaned] };
    const { sql } = writeRead({ provider: 'postgresql', dataModel, schema: 'public' }, 'Book', {
      select: { id: true },
      where,
    });
    expect(sql).toMatch(/ LEFT JOIN \(SELECT DISTINCT "t\d"."shelfId" AS "k0" FROM /);
    expect(sql.match(/"title" = /g)).toHaveLength(2);
  });

  it('finds those of all where the other condition may not hold either', () => {
    expect(sqlOf({ NOT: { AND: [{ id: 1 }, some] } })).not.toContain('INNER JOIN');
  });
});
