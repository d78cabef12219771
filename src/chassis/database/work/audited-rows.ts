import { chargeRequest, currentPrincipal, getRequestContext } from '../../context/request-context.ts';
import { redact } from '../../telemetry/redact.ts';
import { currentUnit } from '../client/current-work.ts';
import type { DelegateName, IdOf } from '../client/orm-types.ts';
import type { ModelTable } from '../models/data-model.ts';
import { delegateOf } from '../models/delegate-of.ts';
import { dialects } from '../statements/sql-dialect.ts';
import { VersionedRows } from './versioned-rows.ts';

type Row = Record<string, unknown>;

const masked = '[redacted]';

/**
 * What a change costs in units of `chargeRequest`, outside of a unit of work, which has a cost of its own: with what the
 * request does before it, it keeps the process busy for as long as a page of a list, but the database for less.
 */
const costOfChange = 15;

/** The rows of a model whose changes leave a trail: who changed what, before and after, stored with the change or not at all. */
export abstract class AuditedRows<D extends DelegateName> extends VersionedRows<D> {
  /**
   * A change and its trail, in one unit of work that is tried again when another change of the record was in the way.
   *
   * @throws TooManyRequestsException, ServiceUnavailableException as `chargeRequest` does, before anything is written
   */
  protected async audited<T>(
    action: 'create' | 'update' | 'delete',
    id: IdOf<D> | undefined,
    change: () => Promise<T>,
  ): Promise<T> {
    const { audit } = this;
    const isInUnit = currentUnit(this.client) !== undefined;
    if (!audit) {
      if (!isInUnit) chargeRequest(costOfChange);
      return change();
    }
    const work = async () => {
      const before = id === undefined ? null : await this.#rowToChange(id);
      const result = await change();
      // A change that did not fit its condition.
      if (result === null) return result;
      const changed = id ?? (result as { id?: IdOf<D> }).id;
      if (changed === undefined)
        throw new Error(`Expected id in what create() of ${this.modelName} selects, found none.`);
      const after = action === 'delete' ? null : await this.#row(changed);
      await delegateOf(this.orm, audit.into).create({ data: this.#entry(action, changed, before, after) });
      return result;
    };
    return isInUnit ? work() : this.unitOfWork(work, { retries: 3 });
  }

  #entry(action: string, id: IdOf<D>, before: Row | null, after: Row | null): object {
    const { requestId = null } = getRequestContext() ?? {};
    const names = Object.keys({ ...before, ...after });
    const isChanged = (name: string) => action !== 'update' || textOf(before?.[name]) !== textOf(after?.[name]);
    const part = (row: Row | null) => row && this.#shown(row, names.filter(isChanged));
    const [was, is] = [part(before), part(after)];
    const values = { ...(was && { before: was }), ...(is && { after: is }) };
    const actorId = currentPrincipal()?.userId ?? null;
    return { model: this.modelName, recordId: String(id), action, actorId, requestId, ...values };
  }

  /** Columns as JSON holds them, without secrets. */
  #shown(row: Row, names: readonly string[]): object {
    const values: Row = JSON.parse(textOf(Object.fromEntries(names.map((name) => [name, row[name]]))));
    for (const name of this.audit?.mask ?? []) if (name in values && values[name] !== null) values[name] = masked;
    return redact(values);
  }

  /**
   * The row before its change. A unit that sees what others store meanwhile locks it before it is read, so that no other change
   * comes between: a stronger one is refused where one does, and one of SQLite has the file to itself.
   */
  async #rowToChange(id: IdOf<D>): Promise<Row | null> {
    const row = await this.#row(id);
    if (row === null || this.provider !== 'postgresql' || currentUnit(this.client)?.isolation !== 'read-committed')
      return row;
    const { table, fields } = this.kind.dataModel.models[this.modelName] as ModelTable;
    const { quote } = dialects.postgresql;
    const column = fields['id']?.column ?? 'id';
    await this.orm.$queryRawUnsafe(`SELECT 1 FROM ${quote(table)} WHERE ${quote(column)} = $1 FOR NO KEY UPDATE`, id);
    return this.#row(id);
  }

  #row(id: IdOf<D>): Promise<Row | null> {
    return this.delegate.findUnique({ where: { id } }) as Promise<Row | null>;
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner));
}
