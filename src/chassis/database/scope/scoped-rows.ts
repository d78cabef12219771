import type { Principal } from '../../context/principal.ts';
import { currentUnit } from '../client/current-work.ts';
import { type DatabaseKind, databaseKindOf } from '../client/database-kind.ts';
import type { DatabaseProvider } from '../client/database-url.ts';
import type { ColumnOf, DelegateName, ModelOf, OrmClient, ScopeOf } from '../client/orm-types.ts';
import { type Delegate, delegateOf } from '../models/delegate-of.ts';
import { type UnitOfWorkOptions, unitOfWorkOn } from '../work/unit-of-work.ts';
import type { RowScope } from './model-rules.ts';

/** The audit trail of a repository. */
export interface AuditTrail<D extends DelegateName> {
  /**
   * The accessor of the model that holds it, whose fields are `model`, `recordId`, `action` (create, update or delete),
   * `before` and `after` (Json?), `actorId` and `requestId` (String?), and `createdAt` with an index, by which the chassis
   * removes what is older than AUDIT_TRAIL_DAYS.
   */
  readonly into: DelegateName;
  /** Columns whose values are masked, beside those under a secret's name. Default: none. */
  readonly mask?: readonly ColumnOf<D>[];
}

/** The rows of a model as their repository declares them: which of them a caller may see, and on which client they are. */
export abstract class ScopedRows<D extends DelegateName> {
  /** The accessor of the model on the ORM client. */
  protected abstract readonly model: D;
  /** The model's name, e.g. `Product`. */
  protected abstract readonly modelName: ModelOf<D>;
  /**
   * The rows that a caller may see and touch: `scope = ({ tenantId }: Principal) => ({ tenantId })`. It holds wherever a
   * query reaches the model, also on `this.orm` and from other repositories, but not in raw SQL; new rows get the columns
   * that it compares with a value. It raises where a value is undefined, and without a caller, unless it takes no parameter.
   * `runAs` and `unscoped` are the ways round. Default: all rows, and none of a model with a column `tenantId`.
   */
  declare protected readonly scope?: (principal: Principal) => ScopeOf<D>;
  /** The column that `delete` sets to the moment, e.g. `'deletedAt'`; a row that has it is no longer there. Default: rows are removed. */
  declare protected readonly softDelete?: ColumnOf<D>;
  /** The columns that get the `userId` of who creates and who changes a row, whatever a body says. Default: none. */
  declare protected readonly authors?: { readonly created?: ColumnOf<D>; readonly updated?: ColumnOf<D> };
  /**
   * The column that tells versions of a row apart: a whole number with `@default(1)`, which each update then counts up, or
   * `@updatedAt`, by which two changes within one millisecond are one. Answers carry it as ETag, and `If-Match` is
   * checked. Default: none.
   */
  declare protected readonly version?: ColumnOf<D>;
  /**
   * Where `create`, `update` and `delete` of this repository leave their trail, e.g. `{ into: 'change' }`. Of an update it
   * has the columns that changed. What `this.orm` writes leaves none. Default: none.
   */
  declare protected readonly audit?: AuditTrail<D>;
  protected readonly client: OrmClient;
  protected readonly kind: DatabaseKind;

  constructor({ orm }: { orm: OrmClient }) {
    this.client = orm;
    this.kind = databaseKindOf(orm);
    this.kind.rules.add(() => {
      const { scope, softDelete, authors, version, audit } = this;
      const rules = { scope: scope as RowScope | undefined, softDelete, authors, version };
      return { model: this.modelName, rules, trail: audit?.into };
    });
  }

  /** The database in use. */
  protected get provider(): DatabaseProvider {
    return this.kind.provider;
  }

  /** The client to ask: inside of a unit of work that unit's, so ask for it again in each query. */
  protected get orm(): OrmClient {
    return currentUnit(this.client)?.transaction ?? this.client;
  }

  /** The operations of the model on that client. */
  protected get delegate(): Delegate {
    return delegateOf(this.orm, this.model);
  }

  /** Runs `work` as one unit on this repository's database; all repositories on it join. See `unitOfWork`. */
  unitOfWork<T>(work: () => Promise<T>, options?: UnitOfWorkOptions): Promise<T> {
    return unitOfWorkOn(this.client, work, options);
  }
}
