import { currentService } from '../../context/current-service.ts';
import type { FieldName, ModelName, Scalars } from './model-types.ts';

/** The values of a computed field, one for each record, in their order. */
type ValuesOf = (records: readonly never[]) => readonly unknown[] | PromiseLike<readonly unknown[]>;

/** A field of a list policy that is no column: it is computed from columns after they were read. */
export class ComputedField<M extends string = string, V = unknown> {
  /** Only for the compiler: the model whose columns it takes, and what it gives. */
  declare readonly model?: M;
  declare readonly value?: V;
  /** The columns that it needs. They are read for it, and leave only where the record names them too. */
  readonly columns: readonly string[];
  /** Whether it follows from the columns of its own record alone. */
  readonly own: boolean;
  readonly valuesOf: ValuesOf;

  constructor(columns: readonly string[], own: boolean, valuesOf: ValuesOf) {
    this.columns = columns;
    this.own = own;
    this.valuesOf = valuesOf;
  }
}

/**
 * A computed field that follows from columns of its own record, for `computed` of a list policy. The columns need not be in
 * the record, and do not leave with it.
 *
 * @param value is called for each record that is answered with; what it raises is a 500
 * @example computed: { amount: from(['price', 'quantity'], ({ price, quantity }) => price * quantity) }
 */
export function from<M extends ModelName, const C extends FieldName<M>, V>(
  columns: readonly [C, ...C[]],
  value: (record: Readonly<Pick<Scalars<M>, C>>) => V,
): ComputedField<M, V> {
  return new ComputedField(columns, true, (records) => records.map(value));
}

/**
 * A computed field of all records of an answer at once, for what needs a query: one for the whole page, not one for each
 * record. The query has the scope of its own repository.
 *
 * @param values gives a value for each record, in their order; `cradle` has the dependencies of the service
 * @example computed: { totalCents: fromAll(['id'], (orders, { orderTotals }): Promise<number[]> => orderTotals.of(orders)) }
 */
export function fromAll<M extends ModelName, const C extends FieldName<M>, V>(
  columns: readonly [C, ...C[]],
  values: (
    records: readonly Readonly<Pick<Scalars<M>, C>>[],
    cradle: Slipway.Cradle,
  ) => readonly V[] | PromiseLike<readonly V[]>,
): ComputedField<M, V> {
  return new ComputedField(columns, false, (records) => values(records, currentService().container.cradle));
}
