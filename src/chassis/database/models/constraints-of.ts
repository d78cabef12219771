import { type DeclaredField, type DeclaredModels, mappedName } from './read-models.ts';

/** Bytes of a name in PostgreSQL. */
const longestName = 63;

/**
 * The constraints that models declare, each with its fields, by the names that Prisma gives them in PostgreSQL:
 * `map`, or `<table>_<columns>_key`, `<table>_pkey` and `<table>_<columns>_fkey`, cut before the last part.
 */
export function constraintsOf({ models, tables, blocks }: DeclaredModels): [name: string, fields: string[]][] {
  return [...models].flatMap(([model, fields]) => {
    const table = tables.get(model) ?? model;
    const declared = [...fields.flatMap(ownConstraints), ...(blocks.get(model) ?? []).flatMap(compositeConstraints)];
    return declared.map(({ attribute, names, suffix }): [string, string[]] => {
      const columns = suffix === '_pkey' ? [] : names.map((name) => mappedName(attributesOf(fields, name)) ?? name);
      return [constraintName(attribute) ?? cut([table, ...columns].join('_'), suffix), names];
    });
  });
}

interface Constraint {
  readonly attribute: string;
  readonly names: string[];
  readonly suffix: string;
}

function ownConstraints({ name, attributes }: DeclaredField): Constraint[] {
  const unique = /@unique\b(\([^)]*\))?/.exec(attributes)?.[0];
  const id = /@id\b(\([^)]*\))?/.exec(attributes)?.[0];
  const relation = /@relation\(.*\)/.exec(attributes)?.[0];
  const references = /\bfields:\s*\[([^\]]*)\]/.exec(relation ?? '')?.[1];
  return [
    ...(unique ? [{ attribute: unique, names: [name], suffix: '_key' }] : []),
    ...(id ? [{ attribute: id, names: [name], suffix: '_pkey' }] : []),
    ...(relation && references ? [{ attribute: relation, names: namesIn(references), suffix: '_fkey' }] : []),
  ];
}

function compositeConstraints(attribute: string): Constraint[] {
  const [, kind, list] = /^@@(unique|id)\(\s*(?:fields:\s*)?\[(.*?)\](?=\s*[,)])/.exec(attribute) ?? [];
  return list === undefined ? [] : [{ attribute, names: namesIn(list), suffix: kind === 'id' ? '_pkey' : '_key' }];
}

function attributesOf(fields: readonly DeclaredField[], name: string): string {
  return fields.find((field) => field.name === name)?.attributes ?? '';
}

/** The fields of `a, b(sort: Desc)`. */
export function namesIn(list: string): string[] {
  return list
    .replace(/\([^)]*\)/g, '')
    .split(',')
    .map((name) => name.trim());
}

function constraintName(attribute: string): string | undefined {
  return /\bmap:\s*"([^"]*)"/.exec(attribute)?.[1];
}

function cut(name: string, suffix: string): string {
  return (
    Buffer.from(name)
      .subarray(0, longestName - suffix.length)
      .toString() + suffix
  );
}
