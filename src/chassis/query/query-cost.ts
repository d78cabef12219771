import { type ComparisonCost, operatorNamed, relationForms } from './operators.ts';
import type { JsonComparison } from './parse/json-comparison.ts';
import { badParameter } from './parse/parameter.ts';
import { isToMany } from './parse/parse-include.ts';
import type { OrderTerm, PolicyRules } from './policy/policy-rules.ts';
import type { Filter, Selection } from './query-types.ts';
import { repeatsAtBeginning } from './repeated-beginning.ts';

/**
 * What parts of a query cost the database, in units of finding one record by an index, which takes PostgreSQL somewhat
 * less than a millisecond. The table is taken to have 100,000 records, because a query does not know how many there are.
 * The figures were measured on PostgreSQL; they are meant to be right to a factor of two.
 */
const units = {
  lookup: 1,
  /** A comparison with each record that is read. */
  range: 4,
  /** A search through the texts of a field, and more for each character where it ignores their case. */
  search: 100,
  foldedCharacter: 4,
  /** A look into the Json field of every record. */
  scan: 50,
  /** Filtering through a relation, which joins two tables. */
  relation: 50,
  /**
   * The same as one of several alternatives, where it must not hold, or where no index finds few of the other records: those lead
   * to none, so each record is looked at with its own.
   */
  alternativeRelation: 120,
  /** Finding the records without such related ones, for which the database may read the whole related table. */
  antiJoin: 120,
  /** Filtering the related records of one parent by more than lookups, for which the database may read those of others as well. */
  relatedSearch: 10,
  /** Reading all records in the order of an index, to count or to compare. */
  pass: 50,
  /** Sorting all records by a field of another table. */
  relatedOrder: 120,
  /** Each key of an order beyond the first, which no index of the first key serves. */
  furtherOrder: 25,
  skippedRecord: 1 / 400,
  record: 1 / 20,
} as const;

const tableSize = 100_000;
/** So often may a text begin with the same at the usual cost of a search. */
const fewRepeats = 4;
/**
 * Where few records of the other table are looked up, few are joined. For more of them PostgreSQL expects enough matches to look at
 * each record in the order asked for, until it has a page: for four places of 24 profiles each, 600 ms in place of 10.
 */
const fewLookups = 3;

/** The parts of a query that its cost is made of. */
interface CostedQuery {
  readonly where: Filter | undefined;
  readonly terms: readonly OrderTerm[];
  readonly select: Selection;
  readonly take: number;
  readonly skip: number;
  /** Whether all matching records are counted. */
  readonly counts: boolean;
}

interface FilterCost {
  readonly cost: number;
  /** Whether an index finds the matching records, so that no others are read. */
  readonly narrow: boolean;
  /** What it costs for each parent, beside `cost` for all, where it filters their related records. */
  readonly eachParent: number;
  /** How many lookups it has, and how many of those are comparisons with each record, because no index serves their choice. */
  readonly lookups: number;
  readonly compared: number;
}

/** What a list query costs, in lookups by an index. */
interface QueryCost {
  readonly cost: number;
  /** What of that is for counting all matching records. */
  readonly costOfCount: number;
}

/**
 * What a list query costs: its filter, once to read and once to count, its order, its includes, what it skips, and what it
 * reads.
 *
 * @throws BadRequestException when what the request asks for costs more than `limits.cost`
 */
export function queryCost(rules: PolicyRules, query: CostedQuery): QueryCost {
  const { take, skip, counts } = query;
  const filter = query.where ? filterCost(rules, query.where) : undefined;
  const filtering = filter ? filter.cost + filter.compared * (units.range - units.lookup) : 0;
  const asked = {
    where: filtering * (counts ? 2 : 1),
    // What an index finds is sorted and counted by itself: the more values, the more records.
    orderBy: Math.min(orderCost(query.terms), filter?.narrow ? filter.cost : tableSize),
    include: includeCost(rules, query.select, take),
    page: Math.min(skip, tableSize) * units.skippedRecord,
  };
  checkCost(rules, asked);
  const { where, orderBy, include, page } = asked;
  const counting = counts ? (filter?.narrow ? Math.min(filtering, units.pass) : units.pass) : 0;
  return {
    cost: Math.ceil(where + orderBy + include + page + counting + units.lookup + take * units.record),
    costOfCount: counts ? filtering + counting : 0,
  };
}

/**
 * What reading one record costs with its includes, in lookups by an index.
 *
 * @throws BadRequestException when that is more than `limits.cost`
 */
export function recordCost(rules: PolicyRules, select: Selection): number {
  const include = includeCost(rules, select, 1);
  checkCost(rules, { include });
  return Math.ceil(units.lookup + include);
}

function checkCost({ limits }: PolicyRules, asked: Record<string, number>): void {
  const parts = Object.entries(asked).filter(([, cost]) => cost > 0);
  const sum = Math.ceil(parts.reduce((total, [, cost]) => total + cost, 0));
  if (sum <= limits.cost) return;
  parts.sort(([, one], [, other]) => other - one);
  const list = parts.map(([name, cost]) => `${name} ${Math.ceil(cost)}`).join(', ');
  const message =
    `this request costs the database ${sum} units (${list}), at most ${limits.cost} are allowed; ` +
    'search for fewer or shorter texts, include less, or say count=none';
  throw badParameter(parts[0]?.[0] ?? 'where', [{ path: '', message }]);
}

/** Where a condition stands: below NOT, where `some` means `none`, and below an OR of several. */
interface Position {
  readonly negated: boolean;
  readonly alternative: boolean;
}

const atTheTop: Position = { negated: false, alternative: false };

function filterCost(rules: PolicyRules, filter: Filter, position = atTheTop): FilterCost {
  const parts = Object.entries(filter).map(([name, condition]) => conditionCost(rules, name, condition, position));
  return together(parts, parts.some(isNarrow));
}

function conditionCost(rules: PolicyRules, name: string, condition: unknown, position: Position): FilterCost {
  const { negated, alternative } = position;
  // A search box also looks through relations and texts that no filter may name.
  const rule = rules.filters.get(name) ?? rules.includes.get(name);
  if (rule && !('many' in rule)) return comparisonsCost(condition, negated);
  if (!rule && rules.fields.has(name)) return comparisonsCost(condition, negated);
  if (rule) {
    const forms = relationForms(rule.many, condition as Filter).map(([word, part]) => {
      const { cost, eachParent, compared, narrow, lookups } = filterCost(rule.target, part, { ...atTheTop, negated });
      const isAnti = negated || (rule.many ? word !== 'some' : word === 'isNot');
      const findsFew = narrow && lookups <= fewLookups;
      const ofMany = isAnti ? units.antiJoin : units.relation;
      const ofOne = isAnti || alternative || !findsFew ? units.alternativeRelation : units.relation;
      const join = rule.many ? ofMany : ofOne;
      const rest = { narrow: false, eachParent: Math.max(eachParent, walkCost(negated)), lookups: 0, compared };
      return { cost: join + cost, ...rest };
    });
    const { cost, ...rest } = together(forms, false);
    return { cost: Math.max(units.relation, cost), ...rest };
  }
  const filters = [condition].flat() as Filter[];
  const below = {
    negated: negated || name === 'NOT',
    alternative: alternative || (name === 'OR' && filters.length > 1),
  };
  const branches = filters.map((branch) => filterCost(rules, branch, below));
  const narrow = name === 'AND' ? branches.some(isNarrow) : name === 'OR' && branches.every(isNarrow);
  const filter = together(branches, narrow);
  if (narrow || name === 'AND') return filter;
  const eachParent = name === 'NOT' ? Math.max(filter.eachParent, units.relatedSearch) : filter.eachParent;
  return { ...filter, eachParent, lookups: 0, compared: filter.compared + filter.lookups };
}

const isNarrow = ({ narrow }: FilterCost) => narrow;

/**
 * Where the database expects many matches, it may walk through the records of all parents in the order asked for; where it does
 * not, it finds and sorts all those of each parent that match.
 */
function walkCost(negated: boolean): number {
  return negated ? units.pass : units.relatedSearch;
}

function together(parts: readonly FilterCost[], narrow: boolean): FilterCost {
  return {
    cost: sumOf(parts),
    narrow,
    eachParent: Math.max(0, ...parts.map(({ eachParent }) => eachParent)),
    lookups: parts.reduce((sum, { lookups }) => sum + lookups, 0),
    compared: parts.reduce((sum, { compared }) => sum + compared, 0),
  };
}

/** The cost of what a field is compared with: a value, an object of operators, or the comparisons of a Json field. */
function comparisonsCost(condition: unknown, negated: boolean): FilterCost {
  if (typeof condition !== 'object' || condition === null || condition instanceof Date) {
    return { cost: units.lookup, narrow: true, eachParent: 0, lookups: 1, compared: 0 };
  }
  if (Array.isArray(condition))
    return { cost: jsonCost(condition), narrow: false, eachParent: walkCost(negated), lookups: 0, compared: 0 };
  const { mode = 'default', ...compared } = condition as Record<string, unknown> & { mode?: 'default' | 'insensitive' };
  const parts = Object.entries(compared).map(([name, operand]) => {
    const operator = operatorNamed(name);
    const kind = operator?.cost[mode] ?? 'search';
    const further = (value: unknown) => (operator?.anywhere ? repetitionCost(String(value), mode) : 0);
    const costs = [operand].flat().map((value) => ({ cost: comparisonCost(kind, mode, value) + further(value) }));
    const isLookup = kind === 'lookup';
    const eachParent = isLookup ? 0 : walkCost(negated);
    return { cost: sumOf(costs), narrow: isLookup, eachParent, lookups: isLookup ? costs.length : 0, compared: 0 };
  });
  return together(parts, parts.some(isNarrow));
}

function jsonCost(comparisons: readonly JsonComparison[]): number {
  return sumOf(comparisons.map(({ operator }) => ({ cost: units[operatorNamed(operator)?.cost.json ?? 'scan'] })));
}

function comparisonCost(kind: ComparisonCost, mode: 'default' | 'insensitive', value: unknown): number {
  if (kind !== 'search' || mode === 'default') return units[kind];
  return units.search + String(value).length * units.foldedCharacter;
}

/** What a text costs beside that is tried at each place of others, and gets far at many where it begins with the same often. */
function repetitionCost(text: string, mode: 'default' | 'insensitive'): number {
  const folded = mode === 'insensitive' ? text.toLowerCase() : text;
  return units.search * Math.max(0, repeatsAtBeginning(folded) / fewRepeats - 1);
}

/** Every order ends with the primary key, which costs nothing by itself. */
function orderCost(terms: readonly OrderTerm[]): number {
  const keys = terms.filter(({ path }) => path.join() !== 'id');
  const related = keys.some(({ path }) => path.length > 1);
  return (related ? units.relatedOrder : 0) + Math.max(0, keys.length - 1) * units.furtherOrder;
}

/** One query reads a relation to one for all parents; a relation to many takes one for each. */
function includeCost(rules: PolicyRules, select: Selection, parents: number): number {
  let cost = 0;
  for (const [name, part] of Object.entries(select)) {
    if (rules.computed.get(name)?.own === false) cost += units.lookup + parents * units.record;
    const rule = part === true ? undefined : rules.includes.get(name);
    if (!rule) continue;
    const { where, orderBy, take, select: inner } = part as IncludedPart;
    const records = isToMany(part) ? parents * take : parents;
    cost += records * units.record + (rule.many ? parents * units.lookup : units.lookup);
    const filter = where && filterCost(rule.target, where);
    if (filter) cost += filter.cost + parents * filter.eachParent;
    // Together they sort every related record once.
    if (orderBy && orderBy.length > 1) cost += units.pass;
    cost += includeCost(rule.target, inner, records);
  }
  return cost;
}

/** How many records a selection may give at most for this many parents, those and all related ones. */
export function recordsOf(select: Selection, parents: number): number {
  let records = parents;
  for (const part of Object.values(select)) {
    if (part === true) continue;
    const { take, select: inner } = part as IncludedPart;
    records += recordsOf(inner, isToMany(part) ? parents * take : parents);
  }
  return records;
}

interface IncludedPart {
  where?: Filter;
  orderBy?: unknown[];
  take: number;
  select: Selection;
}

function sumOf(parts: readonly { cost: number }[]): number {
  return parts.reduce((sum, { cost }) => sum + cost, 0);
}
