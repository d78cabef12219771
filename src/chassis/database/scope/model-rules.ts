import type { Principal } from '../../context/principal.ts';
import { currentPrincipal, isUnscoped } from '../../context/request-context.ts';
import { InternalServerErrorException } from '../../errors/exceptions.ts';
import type { Filter } from '../../query/query-types.ts';
import type { DataModel } from '../models/data-model.ts';
import { hasEmptyChoice, withoutEmptyChoice } from '../reads/empty-choice.ts';

/** The filter of the rows that a caller may see and touch. */
export type RowScope = (principal: Principal) => Filter;

/** Columns that name who wrote a row. */
export interface AuthorColumns {
  /** Set when a row is created. */
  readonly created?: string | undefined;
  /** Set at each write. */
  readonly updated?: string | undefined;
}

/** What a repository says of the rows of its model. */
export interface RowRules {
  /** The rows that a caller may read and write; without a parameter it applies to every caller, and without one. */
  readonly scope?: RowScope | undefined;
  /** The column that tells when a row was deleted. */
  readonly softDelete?: string | undefined;
  readonly authors?: AuthorColumns | undefined;
  /** The column that changes with each update of a row. */
  readonly version?: string | undefined;
}

/** Tells what a repository declares; that are fields of a subclass, so it is asked once the repository is made. */
export type DeclaredRules = () => {
  readonly model: string;
  readonly rules: RowRules;
  /** The accessor of the model that holds the audit trail of its rows. */
  readonly trail?: string | undefined;
};

const tenantColumn = 'tenantId';

/**
 * The rules for the rows of each model of a database, as its repositories declare them: they hold wherever a query reaches
 * the model, also from another repository and on the ORM client itself. A model with a column `tenantId` and no rule is
 * closed.
 */
export class ModelRules {
  /** Whether no model has rules, so that queries go as they are. False as long as a repository was made whose rules are not read yet. */
  isEmpty: boolean;
  /** The models that have rules; undefined as long as it is not known. */
  ruled: ReadonlySet<string> | undefined;
  readonly #made: DeclaredRules[] = [];
  readonly #declared = new Map<string, RowRules>();
  /** Scopes of further repositories of a model, whose text is that of the first: made by one function, they may be of other values. */
  readonly #repeated = new Map<string, RowScope[]>();
  readonly #trails = new Set<string>();
  readonly #models: DataModel['models'];
  readonly #tenantModels: readonly string[];
  #sealed = false;

  constructor({ models }: Pick<DataModel, 'models'>) {
    this.#models = models;
    this.#tenantModels = Object.keys(models).filter((name) => Object.hasOwn(models[name]?.fields ?? {}, tenantColumn));
    this.isEmpty = this.#tenantModels.length === 0;
    this.ruled = new Set(this.#tenantModels);
  }

  /** Takes the rules of a repository that is being made. */
  add(declared: DeclaredRules): void {
    this.isEmpty = false;
    this.ruled = undefined;
    this.#made.push(declared);
  }

  /** Models with a column `tenantId` that no repository gives a scope. */
  get unscopedTenantModels(): string[] {
    if (this.#made.length > 0) this.#readMade();
    return this.#tenantModels.filter((model) => this.#declared.get(model)?.scope === undefined);
  }

  /** The accessors of the models that hold audit trails. */
  get trails(): ReadonlySet<string> {
    if (this.#made.length > 0) this.#readMade();
    return this.#trails;
  }

  /** Expects no further rules: what was read before them has left already. */
  seal(): void {
    this.#readMade();
    this.#sealed = true;
  }

  /** What is declared of a model. */
  of(model: string): RowRules {
    if (this.#made.length > 0) this.#readMade();
    return this.#declared.get(model) ?? {};
  }

  /**
   * The rows of a model that the caller may see and touch, of those that are not deleted; undefined for all of them.
   *
   * @throws InternalServerErrorException where the scope needs a caller and there is none, for a scope that leaves a value
   * undefined, where two repositories give the caller other rows, and for a model with a column `tenantId` and no scope
   */
  filterOf(model: string): Filter | undefined {
    const { softDelete } = this.of(model);
    if (isUnscoped()) return undefined;
    const filter = this.scopeOf(model);
    const alive = softDelete === undefined ? undefined : { [softDelete]: null };
    return filter && alive ? { AND: [filter, alive] } : (filter ?? alive);
  }

  /** The same with deleted ones. @throws what `filterOf` raises */
  scopeOf(model: string): Filter | undefined {
    const { scope } = this.of(model);
    if (isUnscoped()) return undefined;
    if (!scope && this.#tenantModels.includes(model)) throw closed(model, `has a column ${tenantColumn} and no scope`);
    if (!scope) return undefined;
    const principal = currentPrincipal();
    if (!principal && scope.length > 0) throw closed(model, 'has a scope, and nobody acts');
    const filter = scope(principal as Principal);
    const gap = undefinedIn(filter);
    // The ORM would take it for no condition at all.
    if (gap !== undefined) throw closed(model, `has a scope, which gave undefined for ${gap}`);
    const isOther = (repeated: RowScope) => filterText(repeated(principal as Principal)) !== filterText(filter);
    if (this.#repeated.get(model)?.some(isOther)) throw new InternalServerErrorException(differing([model]));
    return hasEmptyChoice(filter) ? withoutEmptyChoice(this.#models, model, filter) : filter;
  }

  #readMade(): void {
    const late: string[] = [];
    const differ: string[] = [];
    for (const declared of this.#made.splice(0)) {
      const { model, rules, trail } = declared();
      if (trail !== undefined) this.#trails.add(trail);
      if (Object.values(rules).every((rule) => rule === undefined)) continue;
      const known = this.#declared.get(model);
      if (known === undefined && this.#sealed) late.push(model);
      if (known && textOf(known) !== textOf(rules)) differ.push(model);
      else if (known && rules.scope && rules.scope !== known.scope && !this.#sealed) {
        this.#repeated.set(model, [...(this.#repeated.get(model) ?? []), rules.scope]);
      }
      this.#declared.set(model, known ?? rules);
    }
    this.ruled = new Set([...this.#declared.keys(), ...this.#tenantModels]);
    this.isEmpty = this.ruled.size === 0;
    // All are read by now, so what is told once holds from then on.
    if (differ.length > 0) throw new InternalServerErrorException(differing(differ));
    if (late.length > 0) throw new InternalServerErrorException(tooLate(late));
  }
}

function tooLate(models: readonly string[]): string {
  return (
    `The rules for rows of ${models.join(', ')} came after the service began to serve; register the repository in di.ts ` +
    'under a name that ends in Repository, so that it is made at the start.'
  );
}

function closed(model: string, problem: string): InternalServerErrorException {
  return new InternalServerErrorException(
    `No rows of ${model}: it ${problem}. Declare \`scope\` in its repository, and have a guard, runAs(principal, work) or ` +
      'unscoped(reason, work) say who acts.',
  );
}

function differing(models: readonly string[]): string {
  return (
    `Expected one repository to say which rows of ${models.join(', ')} a caller may see, found two that differ; ` +
    'declare scope, softDelete, authors and version in one, and in the other nothing or the same.'
  );
}

/** Two instances of a class have functions of their own, with the same text. */
function textOf({ scope, softDelete, authors, version }: RowRules): string {
  return JSON.stringify([scope?.toString(), softDelete, authors?.created, authors?.updated, version]);
}

/** Equal for filters that give the same rows; a moment may be that of now, which differs from one call to the next. */
function filterText(filter: Filter): string {
  return JSON.stringify(filter, function (this: Filter, name, value) {
    if (this[name] instanceof Date) return 'a moment';
    return typeof value === 'bigint' ? `${value}n` : value;
  });
}

/** Where a filter has undefined. */
function undefinedIn(value: unknown, path = ''): string | undefined {
  if (value === undefined) return path;
  if (typeof value !== 'object' || value === null || value instanceof Date) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const gap = undefinedIn(inner, path === '' ? name : `${path}.${name}`);
    if (gap !== undefined) return gap;
  }
  return undefined;
}
