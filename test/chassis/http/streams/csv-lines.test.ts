import { describe, expect, it } from 'vitest';
import { CsvLines } from '../../../../src/chassis/http/streams/csv-lines.ts';

describe('a line of CSV', () => {
  it.each([
    ['plain', 'plain'],
    ['"a ""b"", c"', 'a "b", c'],
    ['"two\nlines"', 'two\nlines'],
    [`"'=HYPERLINK(""x"")"`, '=HYPERLINK("x")'],
    ["'+1", '+1'],
    ["'-1", '-1'],
    ["'@SUM(A1)", '@SUM(A1)'],
    ["'\t=1", '\t=1'],
    [`"'\r=1"`, '\r=1'],
    [`"'\n=1"`, '\n=1'],
    ["'＝1+1", '＝1+1'],
    ["'＠SUM(A1)", '＠SUM(A1)'],
    ['-1', -1],
    ['12', 12n],
    ['true', true],
    ['', null],
    ['', undefined],
    ['1970-01-01T00:00:00.000Z', new Date(0)],
    ['"{""a"":1}"', { a: 1 }],
    ['-19.90', { toJSON: () => '-19.90' }],
    ["'=1+1", { toJSON: () => '=1+1' }],
  ])('holds the field %j for what it means', (field, value) => {
    expect(new CsvLines<{ value: unknown }>(['value']).line({ value })).toBe(`${field}\r\n`);
  });

  it('has the columns in their order, computed ones too', () => {
    const lines = new CsvLines<{ a: number; b: number }>({ '=total': ({ a, b }) => a + b, a: ({ a }) => a });
    expect([lines.heading, lines.line({ a: 1, b: 2 })]).toEqual(["'=total,a\r\n", '3,1\r\n']);
  });
});
