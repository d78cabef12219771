import { operatorNamed, operators } from '../query/operators.ts';
import type { FieldFilter, PolicyRules } from '../query/policy/policy-rules.ts';
import type { Json } from './deep-merge.ts';
import { exampleValue } from './field-schemas.ts';
import type { QueryComponents } from './query-components.ts';

/** `include`: which related records come along. None when the policy allows no relation. */
export function includeParameter(rules: PolicyRules, components: QueryComponents): Json[] {
  const relations = [...rules.includes.values()];
  const [first] = relations;
  if (first === undefined) return [];
  const manyText = relations.some(({ many }) => many)
    ? ' To-many relations take `where`, `orderBy` and `take` ' +
      `(${rules.limits.defaultTake} unless given, at most ${rules.limits.take}).`
    : '';
  return [
    jsonParameter({
      name: 'include',
      schema: components.reference(rules, 'Include'),
      example: { [first.name]: true },
      description: `Related records to return, as JSON: ${code(rules.includes.keys())}. \`true\`, or options: \`select\`, \`include\`.${manyText}`,
    }),
  ];
}

/** The parameters of a find list (spec.md: Query parameters of list requests). */
export function findParameters(rules: PolicyRules, components: QueryComponents): Json[] {
  return [
    ...includeParameter(rules, components),
    ...orderParameter(rules, components),
    ...whereParameter(rules, components),
    ...searchBoxParameter(rules),
  ];
}

/** The parameters of a paginated list: those of a find list, the page, the cursor and the count. */
export function searchParameters(rules: PolicyRules, components: QueryComponents): Json[] {
  const { page, pageSize } = rules.limits;
  return [
    query('page', { type: 'integer', minimum: 1, maximum: page }, '1-based page number, 1 unless given.'),
    query(
      'pageSize',
      { type: 'integer', minimum: 1, maximum: pageSize, default: Math.min(10, pageSize) },
      'Records per page.',
    ),
    ...findParameters(rules, components),
    {
      ...query(
        'cursor',
        { type: 'string' },
        'Paging at constant cost at any depth, instead of `page`: empty starts, then the `nextCursor` of the last answer. ' +
          'It belongs to the order and filter that it was made for.',
      ),
      allowEmptyValue: true,
    },
    query(
      'count',
      { type: 'string', enum: ['exact', 'none'], default: 'exact' },
      '`none` leaves the total uncounted; it is null then.',
    ),
  ];
}

function orderParameter(rules: PolicyRules, components: QueryComponents): Json[] {
  const keys = [...rules.sorts.keys()];
  const [first] = keys;
  if (first === undefined) return [];
  return [
    jsonParameter({
      name: 'orderBy',
      schema: components.reference(rules, 'Order'),
      example: { [first]: 'asc' },
      description: `Field names to \`asc\` or \`desc\`, as JSON, at most ${rules.limits.orderBy}, the first sorts first: ${code(keys)}.`,
    }),
  ];
}

function whereParameter(rules: PolicyRules, components: QueryComponents): Json[] {
  if (rules.filters.size === 0) return [];
  const lines = [...rules.filters].map(([name, rule]) =>
    'many' in rule
      ? `- \`${name}\`: conditions of ${rule.target.model}${rule.many ? ' in `some`, `every` or `none`' : ''}`
      : `- \`${name}\`: ${rule.words.join(', ')}`,
  );
  return [
    jsonParameter({
      name: 'where',
      schema: components.reference(rules, 'Filter'),
      example: exampleFilter(rules),
      description: `Filter, as JSON. What it may name, beside \`AND\`, \`OR\` and \`NOT\`:\n${lines.join('\n')}`,
    }),
  ];
}

function searchBoxParameter({ search, limits }: PolicyRules): Json[] {
  if (search.length === 0) return [];
  const fields = code(search.map((path) => path.join('.')));
  const schema = { type: 'string', maxLength: limits.searchText };
  return [query('q', schema, `A text that one of ${fields} contains, whatever the case of its letters.`)];
}

/** A filter that is likely to match something: text that contains a letter, a number or date from an early one on. */
function exampleFilter(rules: PolicyRules): Json {
  const fields = [...rules.filters.values()].filter((rule): rule is FieldFilter => !('many' in rule));
  for (const name of Object.keys(operators).reverse()) {
    const rule = fields.find(({ operators }) => operators.has(name));
    const value = rule && exampleValue(rule.field);
    if (rule) return { [rule.field.name]: { [name]: operatorNamed(name)?.operand === 'list' ? [value] : value } };
  }
  return {};
}

function jsonParameter(parameter: { name: string; description: string; schema: Json; example: Json }): Json {
  const { name, description, schema, example } = parameter;
  return {
    ...{ name, in: 'query', description },
    content: { 'application/json': { schema, example } },
  };
}

function query(name: string, schema: Json, description: string): Json {
  return { name, in: 'query', description, schema };
}

function code(names: Iterable<string>): string {
  return [...names].map((name) => `\`${name}\``).join(', ');
}
