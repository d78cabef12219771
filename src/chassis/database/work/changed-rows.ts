import type { Filter, Selection } from '../../query/query-types.ts';
import type { CreateInput, DelegateName, IdOf, RecordOf, ScopeFilter, UpdateInput } from '../client/orm-types.ts';
import { toOrmQuery } from '../reads/provider-filter.ts';
import { AuditedRows } from './audited-rows.ts';
import { restoringVersion } from './expected-version.ts';
import { removeInBatches } from './remove-in-batches.ts';

/** A change that is made to one of these versions; of undefined to any. */
type Change<T> = (versions: readonly unknown[] | undefined) => Promise<T>;

/** The rows of a model as a repository changes them: within their scope, on condition of their version, and with a trail. */
export abstract class ChangedRows<D extends DelegateName> extends AuditedRows<D> {
  /**
   * Stores a new record.
   *
   * @throws ConflictException when it is a duplicate or refers to a record that is not there, ForbiddenException when it
   * would be out of the caller's scope
   */
  async create(data: CreateInput<D>, select?: Selection): Promise<RecordOf<D>> {
    const write = () => this.delegate.create({ data, ...this.selection(select) }) as Promise<RecordOf<D>>;
    return this.audited('create', undefined, write);
  }

  /**
   * Changes a record.
   *
   * @param expected the version that the caller has seen, where the repository declares `version`
   * @throws NotFoundException when there is none, PreconditionFailedException when it is another version, and what
   * `create` raises
   */
  async update(
    id: IdOf<D>,
    data: UpdateInput<D>,
    select?: Selection,
    expected?: { version: unknown },
  ): Promise<RecordOf<D>> {
    const one = { data, ...this.selection(select) };
    const write = async (versions: readonly unknown[] | undefined) => {
      if (!versions) return this.delegate.update({ where: { id }, ...one });
      const changed = { ...one, where: this.versionFilter(id, versions), data: this.withLaterMoment(data, versions) };
      const [record] = await this.delegate.updateManyAndReturn(changed);
      return record ?? this.refuseVersion(id);
    };
    return this.#changed('update', id, { expected, write: write as Change<RecordOf<D>> });
  }

  /**
   * Changes a record on condition that it fits a filter, which the statement itself checks: of many who ask at once, one
   * gets what there is only once. For states and stock: `updateIf(id, { status: 'draft' }, { status: 'placed' })`.
   *
   * @returns null when the record does not fit
   * @throws NotFoundException when there is none, and what `update` raises
   */
  async updateIf(
    id: IdOf<D>,
    condition: ScopeFilter<D>,
    data: UpdateInput<D>,
    select?: Selection,
  ): Promise<RecordOf<D> | null> {
    const write = async (versions: readonly unknown[] | undefined) => {
      const where = versions ? this.versionFilter(id, versions) : { id };
      const changed = { ...this.selection(select), data: versions ? this.withLaterMoment(data, versions) : data };
      const query = toOrmQuery({ where: { AND: [where, condition as Filter] } }, this.kind);
      const [record] = await this.delegate.updateManyAndReturn({ ...changed, ...query });
      if (!record && (await this.delegate.count({ where })) === 0) await this.refuseVersion(id);
      return record ?? null;
    };
    return this.#changed('update', id, { write: write as Change<RecordOf<D> | null> });
  }

  /** Deletes a record. @throws NotFoundException when there is none, ConflictException when others refer to it, and what `update` raises of versions */
  async delete(id: IdOf<D>, expected?: { version: unknown }): Promise<void> {
    return this.#changed('delete', id, { expected, write: (versions) => this.#remove(id, versions) });
  }

  /**
   * Removes all records that match, a thousand with each statement, so that none holds the database for long; for jobs that
   * keep what is young enough. Records that refer to them go by `onDelete` of their relation; neither a trail nor a soft
   * deletion is left.
   *
   * @param signal ends it between two statements: that of a job, at its time limit and where the service stops
   * @returns how many it removed
   */
  async removeInBatches(where: ScopeFilter<D>, signal: AbortSignal): Promise<number> {
    const { where: translated } = toOrmQuery({ where: where as Filter }, this.kind);
    return removeInBatches(this.delegate, translated, signal);
  }

  /** A change that takes the expected versions, unless it changes nothing. */
  #changed<T>(
    action: 'update' | 'delete',
    id: IdOf<D>,
    { expected, write }: { expected?: { version: unknown } | undefined; write: Change<T> },
  ): Promise<T> {
    const change = () => {
      const versions = this.expectedVersions(id, expected);
      return this.audited(action, id, () => write(versions));
    };
    return restoringVersion(change, (result) => result !== null);
  }

  async #remove(id: IdOf<D>, versions: readonly unknown[] | undefined): Promise<void> {
    const data = this.softDelete === undefined ? undefined : { [this.softDelete]: new Date() };
    const one = { where: { id }, select: { id: true } };
    if (!versions) await (data ? this.delegate.update({ ...one, data }) : this.delegate.delete(one));
    else {
      const where = this.versionFilter(id, versions);
      const { count } = await (data ? this.delegate.updateMany({ where, data }) : this.delegate.deleteMany({ where }));
      if (count === 0) await this.refuseVersion(id);
    }
  }

  protected selection(select: Selection | undefined): { select: Selection } | undefined {
    return select && toOrmQuery({ select }, this.kind);
  }
}
