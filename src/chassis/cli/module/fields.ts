import { UsageError } from '../terminal.ts';
import { type ColumnType, columnTypes } from './column-types.ts';
import { capital, type ModuleNames } from './names.ts';

/** A field of a new model. */
export interface Field extends ColumnType {
  readonly name: string;
  readonly optional: boolean;
  readonly unique: boolean;
  /** The declaration of its type, of an enum. */
  readonly enumValues?: readonly string[];
  /** Where it leads, of the foreign key of a relation. */
  readonly relation?: { readonly name: string; readonly model: string };
}

/** Fields that every model has. */
const given = ['id', 'createdAt', 'updatedAt'];

/**
 * Reads the fields that `slipway module` is called with, such as `price:int`, `note:text?` and `category:ref`.
 *
 * @throws UsageError with what is wrong
 */
export function readFields(texts: readonly string[], names: ModuleNames): Field[] {
  if (texts.length === 0) throw new UsageError('Expected at least one field, such as name:string; got none.');
  const fields = texts.map((text) => readField(text, names));
  const all = [...given, ...fields.map(({ name }) => name)];
  const twice = all.find((name, index) => all.indexOf(name) !== index);
  if (twice !== undefined)
    throw new UsageError(`Expected each field once, got ${twice} twice; ${given.join(', ')} are there anyway.`);
  return fields;
}

function readField(text: string, names: ModuleNames): Field {
  const [, name = '', type = '', parameter, mark] = /^(\w+):([a-z]+)(?:\(([^)]*)\))?([?!])?$/.exec(text) ?? [];
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) {
    throw new UsageError(`Expected a field such as name:string, note:text? or sku:string!, got "${text}".`);
  }
  const flags = { optional: mark === '?', unique: mark === '!' };
  if (type === 'ref') return referenceField(name, parameter ?? capital(name), flags);
  if (type === 'enum') return enumField(name, parameter?.split('|') ?? [], names, flags);
  const known = Object.hasOwn(columnTypes, type) ? columnTypes[type] : undefined;
  if (!known || parameter !== undefined) {
    const types = [...Object.keys(columnTypes), 'ref', 'ref(Model)', 'enum(a|b)'];
    throw new UsageError(
      `Expected one of the types ${types.join(', ')} for ${name}; got "${text.slice(name.length + 1)}".`,
    );
  }
  return { ...known, name, ...flags };
}

type Flags = Pick<Field, 'optional' | 'unique'>;

function referenceField(name: string, model: string, flags: Flags): Field {
  const uuid = columnTypes['uuid'] as ColumnType;
  return { ...uuid, ...flags, name: `${name}Id`, relation: { name, model } };
}

function enumField(name: string, values: readonly string[], { pascal }: ModuleNames, flags: Flags): Field {
  if (values.length === 0 || values.some((value) => !/^[a-z]\w*$/i.test(value))) {
    throw new UsageError(
      `Expected the values of ${name}, such as ${name}:enum(draft|placed); got "${values.join('|')}".`,
    );
  }
  return {
    ...flags,
    name,
    model: `${pascal}${capital(name)}`,
    schema: `z.enum([${values.map((value) => `'${value}'`).join(', ')}])`,
    filter: ['equals', 'in'],
    sorted: true,
    sample: `'${values[0]}'`,
    wrong: "'none of them'",
    enumValues: values,
  };
}
