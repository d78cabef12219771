import { modelWords } from '../../errors/error-body.ts';
import { ConflictException, InternalServerErrorException } from '../../errors/exceptions.ts';
import type { Filter, Selection } from '../../query/query-types.ts';
import { delegateOf } from '../models/delegate-of.ts';
import { checkedWrite, isLookingUp, isUnchecked } from './checked-write.ts';
import { isFixed } from './fixed-columns.ts';
import { plainKey, type Reference } from './key-relations.ts';
import { type Lookup, ScopedData } from './scoped-data.ts';
import { type RelatedPlan, type ScopedDatabase, ScopedQuery } from './scoped-query.ts';

type Arguments = Record<string, unknown>;
type Row = Record<string, unknown>;

/** Operations whose filter names one record by a unique field. */
const ofOne: ReadonlySet<string> = new Set(['findUnique', 'findUniqueOrThrow', 'update', 'delete', 'upsert']);

/** An operation of the ORM, the service's client, and the one that its own further queries go through: in a transaction that one. */
export interface ScopedOperation {
  readonly service: object;
  readonly model: string;
  readonly operation: string;
  readonly args: unknown;
  readonly client: object;
  /** The relations that lead from the record asked for to the result, as `findUnique(…).customer()` has it. Default: none. */
  readonly path?: readonly string[];
}

/**
 * Runs an operation of the ORM within the scopes of all models that it reaches: also of related records that it reads,
 * creates, changes or refers to. A record out of scope is as one that does not exist.
 *
 * @param run runs the operation with these arguments
 * @throws what `ModelRules.filterOf` raises, ForbiddenException for data of another scope, ConflictException for a
 * reference to a record out of scope
 */
export async function runInScope(
  database: ScopedDatabase,
  { model, operation, args, service, client, path = [] }: ScopedOperation,
  run: (args: unknown) => Promise<unknown>,
): Promise<unknown> {
  if (isLookingUp()) return run(args);
  const scope = isUnchecked(operation) ? database.rules.scopeOf(model) : undefined;
  if (scope && !isFixed(scope)) return checkedWrite({ client: service, model, operation, args, scope });
  const query = new ScopedQuery(database, 'orm');
  const data = new ScopedData(database, query);
  const { where, select, include, ...rest } = (args ?? {}) as Arguments;
  if (rest.cursor !== undefined && query.filterOf(model)) throw cursorInScope(model);
  query.orderScopes(model, rest.orderBy);
  const scoped: Arguments = { ...rest };
  const filter = ofOne.has(operation) ? query.unique(model, where as Filter) : query.where(model, where as Filter);
  if (filter && !operation.startsWith('create')) scoped.where = filter;
  const within = plainKey(database.dataModel, model, (where ?? {}) as Filter);
  for (const [word, write] of writes)
    if (rest[word] !== undefined) scoped[word] = data.rows(model, rest[word], write(operation), within);
  let plan: RelatedPlan = {};
  for (const [word, part] of Object.entries({ select, include })) {
    if (part === undefined) continue;
    const selected = query.selection(model, part as Selection);
    scoped[word] = operation === 'count' ? part : selected.selection;
    plan = { ...plan, ...selected.plan };
  }
  await expectReferences(client, data.references);
  await lookUp(client, data.lookups);
  const result = await run(scoped);
  if (Object.keys(plan).length === 0) return result;
  const whole = path.reduceRight((inner, relation) => ({ [relation]: inner }), result);
  const pruned = await withoutHidden(client, plan, whole);
  return path.reduce<unknown>((outer, relation) => (outer as Row | null)?.[relation] ?? null, pruned);
}

const writes: readonly (readonly [word: string, write: (operation: string) => 'create' | 'update'])[] = [
  ['data', (operation) => (operation.startsWith('create') ? 'create' : 'update')],
  ['create', () => 'create'],
  ['update', () => 'update'],
];

/** Refuses a reference to a record that does not exist. @throws ConflictException, as for the error of a database */
export async function expectReferences(client: object, references: readonly Reference[]): Promise<void> {
  for (const { from, fields, model, key } of references) {
    if ((await delegateOf(client, model).count({ where: key })) > 0) continue;
    const message = `A record that this ${modelWords(from)} refers to does not exist`;
    throw new ConflictException(message, { fields });
  }
}

/** Fills in the ids of records that a write needs. */
async function lookUp(client: object, lookups: readonly Lookup[]): Promise<void> {
  for (const { model, where, ids } of lookups) {
    const found = await delegateOf(client, model).findMany({ where, select: { id: true } });
    for (const { id } of found as Row[]) ids.push(id);
  }
}

/** Looks up the related records that the ORM gave, and puts null where one is out of scope. */
async function withoutHidden(client: object, plan: RelatedPlan, result: unknown): Promise<unknown> {
  const ids = new Map<string, Set<unknown>>();
  for (const row of rowsOf(result)) gatherIds(row, plan, ids);
  const visible = new Map<string, ReadonlySet<unknown>>();
  for (const [model, all] of ids) {
    const found = await delegateOf(client, model).findMany({ where: { id: { in: [...all] } }, select: { id: true } });
    visible.set(model, new Set((found as Row[]).map(({ id }) => id)));
  }
  const pruned = rowsOf(result).map((row) => prune(row, plan, visible));
  return Array.isArray(result) ? pruned : (pruned[0] ?? result);
}

function gatherIds(row: Row, plan: RelatedPlan, ids: Map<string, Set<unknown>>): void {
  for (const [name, { model, checked, below }] of Object.entries(plan)) {
    for (const related of rowsOf(row[name])) {
      if (checked) {
        if (related.id === undefined) throw unknownRelated(name);
        const known = ids.get(model) ?? new Set();
        ids.set(model, known.add(related.id));
      }
      gatherIds(related, below, ids);
    }
  }
}

function prune(row: Row, plan: RelatedPlan, visible: ReadonlyMap<string, ReadonlySet<unknown>>): Row {
  const result = { ...row };
  for (const [name, { model, checked, hidesId, below }] of Object.entries(plan)) {
    const value = row[name];
    if (Array.isArray(value)) result[name] = value.map((related) => prune(related as Row, below, visible));
    else if (typeof value === 'object' && value !== null) {
      const { id, ...others } = value as Row;
      const isVisible = !checked || visible.get(model)?.has(id) === true;
      result[name] = isVisible ? prune(hidesId ? others : (value as Row), below, visible) : null;
    }
  }
  return result;
}

function rowsOf(value: unknown): Row[] {
  if (Array.isArray(value)) return value as Row[];
  return typeof value === 'object' && value !== null ? [value as Row] : [];
}

function unknownRelated(relation: string): InternalServerErrorException {
  return new InternalServerErrorException(
    `Expected the id of ${relation}, whose rows have a scope, found none; do not omit it, and follow one relation at a time.`,
  );
}

function cursorInScope(model: string): InternalServerErrorException {
  return new InternalServerErrorException(
    `The ORM's cursor would take a row of ${model} out of scope for a position; page with findPage() of the repository.`,
  );
}
