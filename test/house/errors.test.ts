import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCatalogue } from '../../src/chassis/errors/catalogue.ts';
import * as exceptions from '../../src/chassis/errors/exceptions.ts';
import { read, root } from './repository.ts';

type AnyException = new (...values: unknown[]) => exceptions.BaseException;

const classes = Object.entries(exceptions as unknown as Record<string, AnyException>).filter(
  ([, Class]) => Class.prototype instanceof exceptions.BaseException,
);

function table(): string {
  const rows = errorCatalogue.map(({ name, statusCode, defaultMessage, reported, meaning }) => {
    return `| \`${name}\` | ${statusCode} | ${defaultMessage ?? 'none: required'} | ${reported ? 'yes' : 'no'} | ${meaning} |`;
  });
  return ['| Exception | Status | Default message | Reported | Meaning |', '|---|---|---|---|---|', ...rows].join('\n');
}

describe('the error catalogue', () => {
  it('has a row for every exception class, and no other', () => {
    const concrete = classes.map(([name]) => name).filter((name) => name !== 'BaseException');
    expect(errorCatalogue.map(({ name }) => name).toSorted()).toEqual(concrete.toSorted());
  });

  it.each(errorCatalogue)('describes $name as it is', ({ name, statusCode, defaultMessage, reported }) => {
    const Exception = classes.find(([className]) => className === name)?.[1];
    if (!Exception) throw new Error(`Expected exceptions.ts to export ${name}.`);
    const exception = name === 'ValidationException' ? new Exception({}) : new Exception();
    expect(exception).toMatchObject({ name, statusCode, isOperational: !reported });
    if (defaultMessage !== undefined) expect(exception.message).toBe(defaultMessage);
  });

  // When the catalogue changed on purpose: npm test -- test/house/errors -u
  it('is in docs/reference/errors.md, row by row', async () => {
    const written = /\| Exception \|.*?\n(?!\|)/s;
    expect(read('docs/reference/errors.md')).toMatch(written);
    await expect(read('docs/reference/errors.md').replace(written, () => `${table()}\n`)).toMatchFileSnapshot(
      join(root, 'docs/reference/errors.md'),
    );
  });
});
