import { InternalServerErrorException } from '../../errors/exceptions.ts';
import { inPieces } from '../in-pieces.ts';
import type { Pause, Selection } from '../query-types.ts';
import type { ComputedField } from './computed-field.ts';
import type { PolicyRules } from './policy-rules.ts';

/** To complete a record takes as long as to make so much JSON. */
const charsOfRecord = 524;

type Fields = Readonly<Record<string, unknown>>;

/** What is read in place of a selection with computed fields, and what completes the records then. */
interface PlannedRead {
  readonly select: Selection;
  /** Undefined where the selection has no computed field. */
  readonly completion?: Completion;
}

/** Makes of a selection under a policy one of columns and relations only. */
export function planRead(rules: PolicyRules, selection: Selection): PlannedRead {
  const select: Record<string, unknown> = {};
  const computed = new Map<string, ComputedField>();
  const relations = new Map<string, Completion>();
  for (const [name, part] of Object.entries(selection)) {
    const field = part === true ? rules.computed.get(name) : undefined;
    const target = part === true ? undefined : rules.includes.get(name)?.target;
    if (field) computed.set(name, field);
    else if (target) {
      const inner = planRead(target, (part as { select: Selection }).select);
      select[name] = { ...(part as object), select: inner.select };
      if (inner.completion) relations.set(name, inner.completion);
    } else select[name] = part;
  }
  if (computed.size === 0 && relations.size === 0) return { select: selection };
  const needed = [...computed.values()].flatMap(({ columns }) => columns);
  const hidden = new Set(needed.filter((column) => select[column] === undefined));
  for (const column of hidden) select[column] = true;
  return { select, completion: new Completion(rules.model, computed, relations, hidden) };
}

/** Puts the computed fields into records that were read, and takes the columns out again that were read for them only. */
export class Completion {
  readonly #model: string;
  readonly #computed: ReadonlyMap<string, ComputedField>;
  readonly #relations: ReadonlyMap<string, Completion>;
  readonly #hidden: ReadonlySet<string>;

  constructor(
    model: string,
    computed: ReadonlyMap<string, ComputedField>,
    relations: ReadonlyMap<string, Completion>,
    hidden: ReadonlySet<string>,
  ) {
    this.#model = model;
    this.#computed = computed;
    this.#relations = relations;
    this.#hidden = hidden;
  }

  /** Whether a record's own columns say all that is added, so that its version tells of a change. */
  get own(): boolean {
    return this.#relations.size === 0 && [...this.#computed.values()].every(({ own }) => own);
  }

  /** As `RecordCompletion` says. */
  async of(records: readonly object[], pause?: Pause): Promise<Record<string, unknown>[]> {
    if (records.length === 0) return [];
    const columns = await Promise.all([
      ...[...this.#relations].map(async ([name, part]) => [name, await part.#related(records, name, pause)] as const),
      ...[...this.#computed].map(async ([name, field]) => [name, await this.#values(records, name, field)] as const),
    ]);
    const complete = (record: object, index: number) => {
      const whole = Object.fromEntries(Object.entries(record).filter(([name]) => !this.#hidden.has(name)));
      for (const [name, values] of columns) whole[name] = values[index];
      return whole;
    };
    return pause ? inPieces(records, complete, () => charsOfRecord, pause) : records.map(complete);
  }

  async #values(records: readonly object[], name: string, field: ComputedField): Promise<readonly unknown[]> {
    const values = await field.valuesOf(records as readonly never[]);
    if (Array.isArray(values) && values.length === records.length) return values;
    const found = Array.isArray(values) ? values.length : typeof values;
    throw new InternalServerErrorException(
      `Expected ${records.length} values of the computed field ${name} of ${this.#model}, one for each record, found ${found}`,
    );
  }

  /** What a relation of each record is completed to: all related records together, so that a query serves the whole page. */
  async #related(records: readonly object[], name: string, pause?: Pause): Promise<unknown[]> {
    const found = records.map((record) => (record as Fields)[name]);
    const all = found.flatMap((related) => related ?? []) as object[];
    const complete = (await this.of(all, pause)).values();
    const next = () => complete.next().value;
    return found.map((related) => (Array.isArray(related) ? related.map(next) : related ? next() : related));
  }
}
