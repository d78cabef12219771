/** A field of a model as the file of models declares it. */
export interface DeclaredField {
  readonly name: string;
  /** Name of a scalar type, an enum or a model. */
  readonly type: string;
  readonly list: boolean;
  readonly optional: boolean;
  /** 1-based line in the file. */
  readonly line: number;
  /** What stands behind the type, without comments. */
  readonly attributes: string;
}

/** The declarations of a file of models, in their order. */
export interface DeclaredModels {
  readonly models: ReadonlyMap<string, readonly DeclaredField[]>;
  /** Name of each model's table. */
  readonly tables: ReadonlyMap<string, string>;
  /** What stands in a model for all of it, such as `@@unique([a, b])`, by model. */
  readonly blocks: ReadonlyMap<string, readonly string[]>;
  /** Values of each enum, in the order that PostgreSQL sorts them. */
  readonly enums: ReadonlyMap<string, readonly DeclaredField[]>;
  /** The database that the models are for, where a `datasource` block names one; undefined for both. */
  readonly provider: string | undefined;
}

const opening = /^(model|view|enum|datasource|type)\s+(\w+)\s*\{/;
const member = /^(\w+)(?:\s+(Unsupported\("[^"]*"\)|\w+)(\[\])?(\?)?)?(.*)$/;

/** Reads a file of models, such as prisma/models.prisma. What is wrong with it Prisma itself says, and better. */
export function readModels(text: string): DeclaredModels {
  const models = new Map<string, DeclaredField[]>();
  const tables = new Map<string, string>();
  const blocks = new Map<string, string[]>();
  const enums = new Map<string, DeclaredField[]>();
  const settings: DeclaredField[] = [];
  let block: DeclaredField[] | undefined;
  let blockName = '';
  for (const [index, raw] of text.split('\n').entries()) {
    const line = withoutComment(raw).trim();
    const [, kind, name = ''] = opening.exec(line) ?? [];
    if (kind !== undefined) {
      [block, blockName] = [kind === 'datasource' ? settings : [], name];
      if (kind === 'model' || kind === 'view') models.set(name, block);
      if (kind === 'enum') enums.set(name, block);
    } else if (line === '}') block = undefined;
    else if (block && /^\w/.test(line)) block.push(fieldOf(line, index + 1));
    else if (line.startsWith('@@map(')) tables.set(blockName, mappedName(line) ?? blockName);
    else if (line.startsWith('@@')) blocks.set(blockName, [...(blocks.get(blockName) ?? []), line]);
  }
  const provider = settings.find(({ name }) => name === 'provider')?.attributes.match(/"([^"]*)"/)?.[1];
  return { models, tables, blocks, enums, provider };
}

/** A line without the comment at its end; `//` inside of a text is none. */
export function withoutComment(line: string): string {
  return /^(?:"(?:[^"\\]|\\.)*"|\/(?!\/)|[^"/])*/.exec(line)?.[0] ?? line;
}

/** The name in the database that `@map` or `@@map` gives; undefined without one. */
export function mappedName(attributes: string): string | undefined {
  return /@map\(\s*(?:name:\s*)?"([^"]*)"/.exec(attributes)?.[1];
}

function fieldOf(line: string, number: number): DeclaredField {
  const [, name = '', type = '', list, optional, attributes = ''] = member.exec(line) ?? [];
  const is = { list: list !== undefined, optional: optional !== undefined };
  return { name, type, ...is, line: number, attributes: attributes.trim() };
}
