import { AnyNull } from '@prisma/client/runtime/client';
import type { Filter } from '../../query/query-types.ts';
import type { DataField } from '../models/data-model.ts';
import { fieldOf, relationLink } from '../models/relation-link.ts';
import { isPlain } from '../reads/provider-filter.ts';
import { isLookup } from './kept-plan.ts';
import { joinOfFound, relatedSource } from './related-source.ts';
import { UnknownShape } from './sql-dialect.ts';
import type { StatementWriter, ValuePath } from './statement-writer.ts';

/** Where a filter holds: the model, its table's name, and the joins that its query has so far. */
interface FilterScope {
  readonly writer: StatementWriter;
  readonly model: string;
  readonly alias: string;
  readonly joins: string[];
  /** Whether a record may match where a condition does not hold, as below OR and NOT. */
  readonly optional?: boolean;
  /** The comparisons with certain values that hold for every record that matches, for its table under another name. */
  readonly lookups?: (alias: string) => string[];
}

/**
 * A filter in the ORM's vocabulary as a condition of SQL, which means what the ORM's own means: with null as SQL has it,
 * relations to one joined, relations to many looked up. Conditions that say nothing are left out of what surrounds them.
 *
 * @param path where the filter stands in the parameters
 * @param outermost whether nothing of the same record surrounds it: only there a choice among none holds for none
 * @throws UnknownShape for what it does not know
 */
export function writeFilter(scope: FilterScope, filter: Filter, path: ValuePath, outermost = true): string {
  const lookups = (alias: string) => lookupsOf({ ...scope, alias }, filter, path);
  return all(conditions(scope.optional ? scope : { ...scope, lookups }, filter, path, outermost)) ?? '1=1';
}

function lookupsOf(scope: FilterScope, filter: Filter, path: ValuePath): string[] {
  return Object.entries(filter).flatMap(([name, value]) => {
    const at = [...path, name];
    if (name === 'AND' && Array.isArray(value)) {
      return value.flatMap((part, index) => lookupsOf(scope, part, [...at, index]));
    }
    if (name === 'AND') return lookupsOf(scope, value as Filter, at);
    return isLookup({ [name]: value }) ? fieldConditions(scope, name, value, at) : [];
  });
}

function conditions(scope: FilterScope, filter: Filter, path: ValuePath, outermost: boolean): string[] {
  return Object.entries(filter).flatMap(([name, value]) => {
    const at = [...path, name];
    if (value === undefined) throw new UnknownShape('undefined');
    if (name !== 'AND' && name !== 'OR' && name !== 'NOT') return fieldConditions(scope, name, value, at);
    const isOptional = name === 'NOT' || (name === 'OR' && Array.isArray(value) && value.length > 1);
    const branches = branchesOf(isOptional ? { ...scope, optional: true } : scope, value, at);
    if (name === 'AND') return branches;
    if (name === 'NOT') return branches.map((branch) => `(NOT ${branch})`);
    if (branches.length > 0) return [`(${branches.join(' OR ')})`];
    return outermost ? ['1=0'] : [];
  });
}

function branchesOf(scope: FilterScope, value: unknown, path: ValuePath): string[] {
  if (!Array.isArray(value)) return listed(all(conditions(scope, value as Filter, path, false)));
  return value.flatMap((branch, index) => listed(all(conditions(scope, branch, [...path, index], false))));
}

function fieldConditions(scope: FilterScope, name: string, value: unknown, path: ValuePath): string[] {
  const { writer, model, alias } = scope;
  const field = fieldOf(writer.dataModel, model, name);
  if (field.relation) return relationConditions(scope, name, value, path);
  const column = writer.column(alias, field.column);
  if (value === null) return [`${column} IS NULL`];
  if (field.type === 'Json') return jsonConditions(scope, column, field, value as Filter, path);
  if (!isPlain(value)) return [`${column} = ${writer.value(path, field)}`];
  const { mode, ...compared } = value;
  const compare = { writer, column, field, insensitive: mode === 'insensitive' };
  const written = Object.entries(compared).map(([name, operand]) =>
    comparison(compare, name, operand, [...path, name]),
  );
  return listed(all(written));
}

interface Compared {
  readonly writer: StatementWriter;
  readonly column: string;
  readonly field: DataField;
  readonly insensitive: boolean;
}

const signs: Record<string, string> = { equals: '=', not: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' };
const patterns: Record<string, (place: string) => string> = {
  contains: (place) => `('%' || ${place} || '%')`,
  startsWith: (place) => `(${place} || '%')`,
  endsWith: (place) => `('%' || ${place})`,
};

function comparison(compared: Compared, operator: string, operand: unknown, path: ValuePath): string {
  const { writer, column, field, insensitive } = compared;
  const pattern = Object.hasOwn(patterns, operator) ? patterns[operator] : undefined;
  if (pattern) return writer.dialect.like(column, pattern(writer.value(path, field)), insensitive);
  if (insensitive) {
    if (operator === 'equals') return writer.dialect.like(column, writer.value(path, field), true);
    throw new UnknownShape(`${operator} without case`);
  }
  if (operator === 'in' || operator === 'notIn') return membership(compared, operator, operand, path);
  const sign = Object.hasOwn(signs, operator) ? signs[operator] : undefined;
  if (!sign || (operand === null && operator !== 'equals' && operator !== 'not')) throw new UnknownShape(operator);
  if (operand === null) return `${column} IS ${operator === 'not' ? 'NOT ' : ''}NULL`;
  return `${column} ${sign} ${writer.value(path, field)}`;
}

function membership({ writer, column, field }: Compared, operator: 'in' | 'notIn', operand: unknown, path: ValuePath) {
  if (!Array.isArray(operand)) throw new UnknownShape(operator);
  if (operand.length === 0) return operator === 'in' ? '1=0' : '1=1';
  const places = operand.map((_value, index) => writer.value([...path, index], field));
  return `${column} ${operator === 'in' ? 'IN' : 'NOT IN'} (${places.join(',')})`;
}

function jsonConditions(
  { writer }: FilterScope,
  column: string,
  field: DataField,
  { path: steps, ...compared }: Filter,
  path: ValuePath,
): string[] {
  const at = [...path, 'path'];
  const places = () =>
    Array.isArray(steps)
      ? steps.map((_step, index) => writer.plain([...at, index], 'String'))
      : writer.plain(at, 'String');
  const step = steps === undefined ? undefined : places();
  const inside = writer.dialect.jsonAt(column, step);
  return Object.entries(compared).map(([operator, operand]) => {
    if (operator !== 'equals' && operator !== 'not') throw new UnknownShape(`${operator} of Json`);
    if (operand !== AnyNull) return `${inside} ${signs[operator]} ${writer.value([...path, operator], field)}`;
    if (operator === 'not' || step !== undefined) throw new UnknownShape('not null of Json');
    return `(${inside} = 'null' OR ${column} IS NULL)`;
  });
}

function relationConditions(scope: FilterScope, name: string, value: unknown, path: ValuePath): string[] {
  const { writer, model, alias } = scope;
  const link = relationLink(writer.dataModel, model, name);
  if (value === null || !isPlain(value)) throw new UnknownShape('a relation compared with a value');
  const worded = Object.entries(value);
  if (link.many) {
    return worded.map(([word, filter]) => relatedToMany(scope, name, word, filter as Filter, [...path, word]));
  }
  if (worded.length === 0) return [];
  const isWorded = worded.every(([word]) => word === 'is' || word === 'isNot');
  const parts = isWorded ? worded : [['is', value] as const];
  return parts.map(([word, filter]) => {
    if (!isPlain(filter)) throw new UnknownShape('a relation compared with a value');
    const other = writer.alias();
    scope.joins.push(
      `LEFT JOIN ${writer.from(link.model, other)} ON ${writer.equal(other, link.there, alias, link.here)}`,
    );
    const optional = scope.optional || word === 'isNot';
    const inner = { writer, model: link.model, alias: other, joins: scope.joins, optional };
    const condition = writeFilter(inner, filter, isWorded ? [...path, word] : path);
    const id = writer.column(other, link.there[0] as string);
    return word === 'is' ? `(${condition} AND ${id} IS NOT NULL)` : `((NOT ${condition}) OR ${id} IS NULL)`;
  });
}

function relatedToMany(scope: FilterScope, name: string, word: string, filter: Filter, path: ValuePath): string {
  const { writer, model, alias } = scope;
  if (word !== 'some' && word !== 'every' && word !== 'none') throw new UnknownShape(word);
  const link = relationLink(writer.dataModel, model, name);
  const other = writer.alias();
  const joins: string[] = [];
  const inner = { writer, model: link.model, alias: other, joins, optional: word === 'every' };
  const condition = writeFilter(inner, filter, path);
  const related = relatedSource(writer, link, other);
  const source = [related.source, ...joins].join(' ');
  const wanted = word === 'every' ? `(NOT ${condition})` : condition;
  if (scope.optional) {
    const { join, key } = joinOfFound(writer, link, scope, { ...related, source, wanted });
    scope.joins.push(join);
    return `${key} IS ${word === 'some' ? 'NOT ' : ''}NULL`;
  }
  const linked = writer.equal(alias, link.here, related.holder, related.columns);
  return `${word === 'some' ? '' : 'NOT '}EXISTS(SELECT 1 FROM ${source} WHERE ${wanted} AND ${linked})`;
}

function all(written: readonly string[]): string | undefined {
  return written.length > 1 ? `(${written.join(' AND ')})` : written[0];
}

function listed<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
