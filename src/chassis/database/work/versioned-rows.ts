import { modelWords, notFoundMessage } from '../../errors/error-body.ts';
import { BadRequestException, NotFoundException, PreconditionFailedException } from '../../errors/exceptions.ts';
import type { DelegateName, IdOf } from '../client/orm-types.ts';
import { ScopedRows } from '../scope/scoped-rows.ts';
import { expectingVersion, takeExpectedVersion } from './expected-version.ts';

type Values = Record<string, unknown>;

/** Versions as tags and URLs write them, by the type of their column. */
const readers: Record<string, (digits: string) => unknown> = {
  Int: (digits) => (Number(digits) <= 2_147_483_647 ? Number(digits) : undefined),
  BigInt: (digits) => BigInt.asIntN(64, BigInt(digits)),
  DateTime: (digits) => (Number(digits) <= 8.64e15 ? new Date(Number(digits)) : undefined),
};

/** A client has seen a few versions of a record; a header has room for two thousand, each of which the database is asked for. */
const mostTags = 100;

/** The rows of a model that a change may be made to on condition of their version, which the statement itself checks. */
export abstract class VersionedRows<D extends DelegateName> extends ScopedRows<D> {
  /** The column that tells versions of a row apart; undefined without one. */
  get versionColumn(): string | undefined {
    return this.version;
  }

  /**
   * Runs `work`, whose first `update` or `delete` of this record is made to one of these versions only.
   *
   * @param tags entity tags, as If-Match has them; one of another form is of no version
   * @throws BadRequestException for more than a hundred tags
   * @throws PreconditionFailedException when the record is another version, Error when the work did not change the record
   */
  async ifVersion<T>(id: IdOf<D>, tags: readonly string[], work: () => Promise<T>): Promise<T> {
    if (tags.length > mostTags)
      throw new BadRequestException(`Expected at most ${mostTags} entity tags in If-Match, found ${tags.length}`);
    const versions = tags.map((tag) => this.#versionOf(tag)).filter((version) => version !== undefined);
    const expected = { client: this.client, model: this.modelName, id, versions, taken: false, asked: false };
    const result = await expectingVersion(expected, work);
    if (expected.asked) return result;
    throw new Error(
      `Expected the change of this ${modelWords(this.modelName)} to go through update() or delete() of its repository, ` +
        'which checks the version; found none that did.',
    );
  }

  /** The versions that a change of a record is to be made to; undefined for any. */
  protected expectedVersions(id: IdOf<D>, expected: { version: unknown } | undefined): readonly unknown[] | undefined {
    const ambient = takeExpectedVersion(this.client, this.modelName, id);
    if (!expected) return ambient;
    if (this.version === undefined) {
      throw new Error(
        `Expected a version column of ${this.modelName}, found none; declare \`version\` in its repository.`,
      );
    }
    return ambient?.filter((version) => String(version) === String(expected.version)) ?? [expected.version];
  }

  protected versionFilter(id: IdOf<D>, versions: readonly unknown[]): Values {
    return { id, [this.version as string]: { in: versions } };
  }

  /** What changes; a moment of the last change is later than the one that it takes the place of. */
  protected withLaterMoment(data: object, versions: readonly unknown[]): object {
    const moments = versions.filter((version) => version instanceof Date).map((moment) => moment.getTime());
    if (moments.length === 0) return data;
    return {
      ...data,
      [this.version as string]: new Date(Math.max(Date.now(), ...moments.map((moment) => moment + 1))),
    };
  }

  /** Says why no row was changed. */
  protected async refuseVersion(id: IdOf<D>): Promise<never> {
    const isThere = (await this.delegate.count({ where: { id } })) > 0;
    if (!isThere) throw new NotFoundException(notFoundMessage(this.modelName));
    throw new PreconditionFailedException(
      `Somebody has changed this ${modelWords(this.modelName)} meanwhile; get it again and repeat the change`,
    );
  }

  #versionOf(tag: string): unknown {
    const digits = /^"(\d{1,19})"$/.exec(tag)?.[1];
    const type = this.kind.dataModel.models[this.modelName]?.fields[this.version ?? '']?.type ?? '';
    return digits === undefined ? undefined : readers[type]?.(digits);
  }
}
