import { operatorNamed, relationOperators, takesMode } from '../../../../src/chassis/query/operators.ts';
import type { FieldRule } from '../../../../src/chassis/query/policy/field-types.ts';
import type { PolicyRules, RelationRule } from '../../../../src/chassis/query/policy/policy-rules.ts';

type Json = Record<string, unknown>;

/** Records that are stored, as the API gives them, by model; values to compare with are drawn from them. */
export type Samples = Readonly<Record<string, readonly Json[]>>;

const texts = ['', '%', '_', "'", '\\', '*', '?', '"', 'É', 'ß', '😀', 'a b', '\u2028', 'A', 'null', '[a]'];

/** Random queries within a policy, of everything that it allows; some cost more than it allows. */
export class RandomQueries {
  readonly #random: () => number;
  readonly #samples: Samples;

  constructor(random: () => number, samples: Samples) {
    this.#random = random;
    this.#samples = samples;
  }

  /** The parameters of a list, as text. */
  list(rules: PolicyRules): Record<string, string> {
    return {
      ...(this.#chance(0.85) && { where: JSON.stringify(this.#filter(rules, 2)) }),
      ...(rules.search.length > 0 && this.#chance(0.3) && { q: this.#searched(rules) }),
      ...(this.#chance(0.8) && { orderBy: JSON.stringify(this.#order(rules)) }),
      ...(this.#chance(0.5) && { include: JSON.stringify(this.#include(rules, 2)) }),
    };
  }

  /** The parameters of a page, as text. */
  page(rules: PolicyRules): Record<string, string> {
    const position: Record<string, string> = this.#chance(0.25)
      ? { cursor: '' }
      : { page: String(1 + Math.floor(this.#random() * 4)) };
    return {
      ...this.list(rules),
      ...position,
      pageSize: String(1 + Math.floor(this.#random() * 12)),
      ...(this.#chance(0.2) && { count: 'none' }),
    };
  }

  /** The parameters of one record, as text. */
  record(rules: PolicyRules): Record<string, string> {
    return this.#chance(0.6) ? { include: JSON.stringify(this.#include(rules, 2)) } : {};
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #some<T>(items: readonly T[], most: number): T[] {
    if (items.length === 0) return [];
    return Array.from({ length: Math.floor(this.#random() * (most + 1)) }, () => this.pick(items));
  }

  #filter(rules: PolicyRules, depth: number, top = true): Json {
    if (this.#chance(0.04)) return {};
    if (depth > 0 && this.#chance(0.3)) {
      const branches = () => this.#some([0, 1, 2], 3).map(() => this.#filter(rules, depth - 1, top));
      const [word] = [this.pick(['AND', 'OR', 'NOT'])];
      return { [word]: word === 'OR' || this.#chance(0.5) ? branches() : this.#filter(rules, depth - 1, top) };
    }
    const allowed = [...rules.filters].filter(([, rule]) => top || !('many' in rule && rule.many));
    const chosen = this.#some(allowed, 1).concat([this.pick(allowed)]);
    return Object.fromEntries(
      chosen.map(([name, rule]) => [
        name,
        'many' in rule
          ? this.#related(rule, depth)
          : this.#comparison(rules.model, rule.field, [...rule.operators], rule.words),
      ]),
    );
  }

  /** What somebody types into a search box: a part of a stored text, in any case of letters, or any text. */
  #searched({ model, search }: PolicyRules): string {
    const own = search.find(([, related]) => related === undefined)?.[0];
    const stored = own === undefined ? undefined : this.#stored(model)[own];
    const text = typeof stored === 'string' && this.#chance(0.7) ? [...stored] : [...this.pick(texts)];
    const from = Math.floor(this.#random() * text.length);
    const part = text.slice(from, from + 1 + Math.floor(this.#random() * 4)).join('');
    return this.#chance(0.3) ? part.toUpperCase() : part;
  }

  #related(rule: RelationRule, depth: number): Json {
    const filter = depth > 0 ? this.#filter(rule.target, depth - 1, false) : {};
    return !rule.many && this.#chance(0.5) ? filter : { [this.pick(relationOperators(rule.many))]: filter };
  }

  #comparison(model: string, field: FieldRule, operators: string[], words: readonly string[]): unknown {
    if (operators.includes('equals') && this.#chance(0.15)) return this.#value(model, field, true);
    const chosen = this.#chance(0.2) ? [this.pick(operators), this.pick(operators)] : [this.pick(operators)];
    const compared = Object.fromEntries(
      chosen.map((name) => {
        const operand = operatorNamed(name)?.operand;
        if (operand === 'list') return [name, this.#some([0, 1, 2, 3], 4).map(() => this.#value(model, field, false))];
        return [name, this.#value(model, field, operand === 'nullable')];
      }),
    );
    const mode = takesMode(field.kind, operators) &&
      this.#chance(0.4) && { mode: this.pick(['insensitive', 'default']) };
    const path = words.includes('path') && this.#chance(0.5) && { path: this.#path(model, field) };
    return { ...compared, ...mode, ...path };
  }

  /** Of a record that is stored, a part of such a text, or any. */
  /** A record of a model, or nothing of one where there is none. */
  #stored(model: string): Record<string, unknown> {
    const records = this.#samples[model] ?? [];
    return records.length > 0 ? this.pick(records) : {};
  }

  #value(model: string, field: FieldRule, nullable: boolean): unknown {
    if (nullable && field.nullable && this.#chance(0.15)) return null;
    const stored = this.#stored(model)[field.name];
    if (field.kind === 'json') return this.#jsonValue(stored);
    if (stored === undefined || stored === null || this.#chance(0.15)) return this.#anyValue(field);
    if (field.kind !== 'text' || this.#chance(0.5)) return stored;
    const text = [...String(stored)];
    const from = Math.floor(this.#random() * text.length);
    const part = text.slice(from, from + 1 + Math.floor(this.#random() * 4)).join('');
    return this.#chance(0.3) ? part.toUpperCase() : part;
  }

  #anyValue({ kind, values }: FieldRule): unknown {
    if (values) return this.pick([...values]);
    if (kind === 'uuid') return '00000000-0000-4000-8000-000000000001';
    if (kind === 'integer') return Math.floor(this.#random() * 60) - 10;
    if (kind === 'number') return this.pick([0.1, -1.5, 1e21, 0, 3]);
    if (kind === 'boolean') return this.#chance(0.5);
    if (kind === 'date') return new Date(Date.UTC(2026, 0, 1) + Math.floor(this.#random() * 1e9)).toISOString();
    if (kind === 'bigint') return this.pick(['0', '9223372036854775807', '-5']);
    if (kind === 'decimal') return this.pick(['0', '1.5', '-0.001', '100']);
    return this.pick(texts);
  }

  #jsonValue(stored: unknown): unknown {
    if (this.#chance(0.5)) return stored ?? null;
    const inside = typeof stored === 'object' && stored !== null ? Object.values(stored) : [stored];
    return this.pick([...inside, 1, 'x', null, true, [], {}]) ?? null;
  }

  #path(model: string, field: FieldRule): (string | number)[] {
    const stored = this.#stored(model)[field.name];
    const keys = typeof stored === 'object' && stored !== null ? Object.keys(stored) : [];
    return [this.pick([...keys, 'a', 0]), ...this.#some(['b', 0, 1], 1)];
  }

  #order(rules: PolicyRules): Json {
    return Object.fromEntries(this.#some([...rules.sorts.keys()], 3).map((key) => [key, this.pick(['asc', 'desc'])]));
  }

  #include(rules: PolicyRules, depth: number, top = true): Json {
    const allowed = [...rules.includes].filter(([, rule]) => top || !rule.many);
    const chosen = this.#some(allowed, 2);
    return Object.fromEntries(chosen.map(([name, rule]) => [name, this.#included(rule, depth)]));
  }

  #included({ many, target }: RelationRule, depth: number): unknown {
    if (this.#chance(0.4)) return true;
    const fields = this.#some(Object.keys(target.select), 4).concat(['id']);
    return {
      ...(this.#chance(0.5) && { select: Object.fromEntries(fields.map((name) => [name, true])) }),
      ...(depth > 1 && this.#chance(0.4) && { include: this.#include(target, depth - 1, false) }),
      ...(many && this.#chance(0.6) && { where: this.#filter(target, 1, false) }),
      ...(many && this.#chance(0.6) && { orderBy: this.#order(target) }),
      ...(many && this.#chance(0.8) && { take: 1 + Math.floor(this.#random() * 4) }),
    };
  }
}
