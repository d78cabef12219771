import { InternalServerErrorException } from '../../errors/exceptions.ts';
import type { Filter, Selection } from '../../query/query-types.ts';
import type { DataField, DataModel } from '../models/data-model.ts';
import { said } from '../reads/empty-choice.ts';
import { asList, type TargetDatabase } from '../reads/provider-filter.ts';
import type { OrderScopes, ReadParameters } from '../statements/write-statement.ts';
import type { ModelRules } from './model-rules.ts';

/** Who reads: the database's JSON by statements of the chassis, or the ORM, which cannot filter a related record. */
export type QueryForm = 'json' | 'orm';

/** The related records of a result that are to be looked up, because the ORM gives also those out of scope. */
export interface RelatedPlan {
  readonly [relation: string]: {
    readonly model: string;
    /** Whether each record has to be looked up by its `id`. */
    readonly checked: boolean;
    /** Whether `id` was not asked for. */
    readonly hidesId: boolean;
    readonly below: RelatedPlan;
  };
}

/** The database that a query is for, and the rules of its models. */
export interface ScopedDatabase extends TargetDatabase {
  readonly dataModel: DataModel;
  readonly rules: ModelRules;
}

/**
 * Puts the scope of each model that a query reaches into it: into the filter of the records, of related ones, and into
 * filters over relations. Queries are in the ORM's vocabulary and left as they are; their filters are translated for the
 * database afterwards. Scopes are taken as they stand, so one may look through relations that have a scope themselves.
 */
export class ScopedQuery {
  readonly #database: ScopedDatabase;
  readonly #form: QueryForm;
  readonly #filters = new Map<string, Filter | undefined>();

  constructor(database: ScopedDatabase, form: QueryForm) {
    this.#database = database;
    this.#form = form;
  }

  /** The rows of a model that the caller may see; undefined for all. @throws what `filterOf` of the rules raises */
  filterOf(model: string): Filter | undefined {
    const { ruled } = this.#database.rules;
    if (ruled && !ruled.has(model)) return undefined;
    if (this.#filters.has(model)) return this.#filters.get(model);
    const filter = this.#database.rules.filterOf(model);
    this.#filters.set(model, filter);
    return filter;
  }

  /** A filter of records. */
  where(model: string, where: Filter | undefined): Filter | undefined {
    const own = this.filterOf(model);
    const asked = where && this.#conditions(model, where);
    if (!own) return asked;
    return asked ? { AND: [own, asked] } : own;
  }

  /** A filter that names one record by a unique field, which has to stay at its top. */
  unique(model: string, where: Filter): Filter {
    const own = this.filterOf(model);
    const asked = this.#conditions(model, where);
    return own ? { ...asked, AND: [...asList(asked.AND), own] } : asked;
  }

  /** A `select` or `include` of records, and for the ORM what is to be looked up of its result. */
  selection(model: string, selection: Selection): { selection: Selection; plan: RelatedPlan } {
    const result: Selection = {};
    const plan: Record<string, RelatedPlan[string]> = {};
    for (const [name, part] of Object.entries(selection)) {
      const field = this.relation(model, name);
      if (name === '_count') result[name] = this.#counts(model, part);
      else if (!field || part === false || part === undefined) result[name] = part;
      else {
        const related = field.list ? this.#many(field.type, part) : this.#one(field.type, part);
        result[name] = related.part;
        if (related.plan) plan[name] = related.plan;
      }
    }
    return { selection: result, plan };
  }

  /**
   * The scopes of the records that an order leads to, by relation, also of those that may be missing: the ORM sorts
   * records without them first on one database and last on the other.
   *
   * @throws InternalServerErrorException where the ORM would have to sort by records in a scope
   */
  orderScopes(model: string, orderBy: unknown): OrderScopes | undefined {
    let scopes: OrderScopes | undefined;
    for (const term of asList(orderBy) as Filter[]) {
      for (const [name, sort] of Object.entries(term)) {
        const field = this.relation(model, name);
        if (!field) continue;
        const where = this.filterOf(field.type);
        const below = field.list ? undefined : this.orderScopes(field.type, sort);
        const leadsOn = Object.values(below ?? {}).some((inner) => inner.where !== undefined);
        const isSorted = this.#form === 'json' && !field.list && !leadsOn;
        if (where ? !isSorted : leadsOn) throw unsortable(model, name);
        if (isSorted && (where || field.relation?.optional)) scopes = { ...scopes, [name]: where ? { where } : {} };
      }
    }
    return scopes;
  }

  /** The relation of a model with this name; undefined for any other field. */
  relation(model: string, name: string): DataField | undefined {
    const { models } = this.#database.dataModel;
    const fields = models[model]?.fields;
    const field = fields && Object.hasOwn(fields, name) ? fields[name] : undefined;
    return field && Object.hasOwn(models, field.type) ? field : undefined;
  }

  #conditions(model: string, filter: Filter): Filter {
    const result: Filter = {};
    const besides: Filter[] = [];
    for (const [name, value] of Object.entries(filter)) {
      const field = this.relation(model, name);
      if (name === 'AND' || name === 'OR' || name === 'NOT') {
        const inner = (one: unknown) => this.#conditions(model, one as Filter);
        result[name] = Array.isArray(value) ? value.map(inner) : value && inner(value);
      } else if (!field || value === undefined) result[name] = value;
      else if (field.list) result[name] = this.#overMany(field.type, value as Filter);
      else besides.push(...this.#overOne(name, field.type, value as Filter | null));
    }
    if (besides.length > 0) result.AND = [...asList(result.AND), ...besides];
    return result;
  }

  #overMany(target: string, words: Filter): Filter {
    const { models } = this.#database.dataModel;
    const own = this.filterOf(target);
    const scoped = Object.entries(words).map(([word, value]) => {
      if (value === undefined) return [word, value];
      const asked = this.#conditions(target, value as Filter);
      if (!own) return [word, asked];
      return [word, word === 'every' ? { OR: [said(models, target, asked), { NOT: own }] } : { AND: [own, asked] }];
    });
    return Object.fromEntries(scoped);
  }

  /** A related record out of scope counts as missing. */
  #overOne(name: string, target: string, value: Filter | null): Filter[] {
    const own = this.filterOf(target);
    const isWorded = value !== null && Object.keys(value).every((word) => word === 'is' || word === 'isNot');
    const words: [string, unknown][] = isWorded ? Object.entries(value) : [['is', value]];
    return words.flatMap(([word, asked]): Filter[] => {
      if (asked === undefined) return [];
      if (asked === null) {
        if (!own) return [{ [name]: { [word]: null } }];
        return [word === 'is' ? { NOT: { [name]: { is: own } } } : { [name]: { is: own } }];
      }
      const conditions = this.#conditions(target, asked as Filter);
      return [{ [name]: { [word]: own ? { AND: [own, conditions] } : conditions } }];
    });
  }

  #many(target: string, part: unknown): { part: unknown; plan?: RelatedPlan[string] } {
    if (part === true) {
      const where = this.filterOf(target);
      return { part: where ? { where } : true };
    }
    const { where: asked, orderBy, ...rest } = part as Filter;
    const where = this.where(target, asked as Filter | undefined);
    const orderScopes = this.orderScopes(target, orderBy);
    const { options, plan } = this.#nested(target, rest);
    const scoped = { ...options, ...(where && { where }), ...(orderBy !== undefined && { orderBy }) };
    return {
      part: orderScopes ? { ...scoped, orderScopes } : scoped,
      ...(plan && { plan: { model: target, checked: false, hidesId: false, below: plan } }),
    };
  }

  #one(target: string, part: unknown): { part: unknown; plan?: RelatedPlan[string] } {
    const own = this.filterOf(target);
    const { options, plan: below } = part === true ? { options: {} as Filter } : this.#nested(target, part as Filter);
    if (this.#form === 'json') return { part: own ? { ...options, where: own } : part === true ? true : options };
    const select = options.select as Selection | undefined;
    const hidesId = own !== undefined && select !== undefined && select.id !== true;
    const complete = hidesId ? { ...options, select: { ...select, id: true } } : options;
    const plan = own || below ? { model: target, checked: own !== undefined, hidesId, below: below ?? {} } : undefined;
    return { part: part === true ? true : complete, ...(plan && { plan }) };
  }

  #nested(target: string, part: Filter): { options: Filter; plan?: RelatedPlan } {
    const options = { ...part };
    let plan: RelatedPlan | undefined;
    for (const word of ['select', 'include'] as const) {
      if (typeof part[word] !== 'object' || part[word] === null) continue;
      const nested = this.selection(target, part[word] as Selection);
      options[word] = nested.selection;
      if (Object.keys(nested.plan).length > 0) plan = { ...plan, ...nested.plan };
    }
    return { options, ...(plan && { plan }) };
  }

  /** `_count: true` counts all relations to many. */
  #counts(model: string, part: unknown): unknown {
    if (!part) return part;
    const fields = this.#database.dataModel.models[model]?.fields ?? {};
    const lists = Object.keys(fields).filter((name) => this.relation(model, name)?.list);
    const asked = part === true ? Object.fromEntries(lists.map((name) => [name, true])) : (part as Filter).select;
    const select = Object.entries((asked ?? {}) as Filter).map(([name, value]) => {
      const target = this.relation(model, name)?.type;
      if (!value || target === undefined) return [name, value];
      const where = this.where(target, (value as { where?: Filter }).where);
      return [name, where ? { where } : value];
    });
    return { select: Object.fromEntries(select) };
  }
}

/** A read by statements of the chassis, within the scopes of the models that it reaches. */
export function scopedRead<P extends ReadParameters>(database: ScopedDatabase, model: string, parameters: P): P {
  const query = new ScopedQuery(database, 'json');
  const orderScopes = query.orderScopes(model, parameters.orderBy);
  if (database.rules.isEmpty) return orderScopes ? { ...parameters, orderScopes } : parameters;
  const where = query.where(model, parameters.where);
  const { select } = parameters;
  return {
    ...parameters,
    ...(where && { where }),
    ...(select && !isOfColumns(database, model, select) && { select: query.selection(model, select).selection }),
    ...(orderScopes && { orderScopes }),
  };
}

/** Frozen selections of which each field is a column of that model, as those of list policies are. */
const ofColumns = new WeakMap<object, { readonly dataModel: DataModel; readonly model: string }>();

/** Whether a selection leads to no other model, so that no scope has a place in it. Looks at each once. */
function isOfColumns({ dataModel }: ScopedDatabase, model: string, select: Selection): boolean {
  const known = ofColumns.get(select);
  if (known?.dataModel === dataModel && known.model === model) return true;
  const fields = dataModel.models[model]?.fields ?? {};
  const isColumn = (name: string) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return field !== undefined && !Object.hasOwn(dataModel.models, field.type);
  };
  if (!Object.isFrozen(select) || !Object.entries(select).every(([name, part]) => part === true && isColumn(name)))
    return false;
  ofColumns.set(select, { dataModel, model });
  return true;
}

function unsortable(model: string, relation: string): InternalServerErrorException {
  return new InternalServerErrorException(
    `The ORM cannot sort ${model} by ${relation}, whose rows have a scope; read with findMany() or findPage() of the repository.`,
  );
}
