import type { DatabaseProvider } from '../client/database-url.ts';
import { foreignIndex } from './indexes-of.ts';
import { type DeclaredField, readModels, withoutComment } from './read-models.ts';

/** The models ask for what a database cannot hold; the message names every such field and both ways out. */
class UnsupportedModelsError extends Error {
  override readonly name = 'UnsupportedModelsError';
}

/** The databases that models are for: both, or the one that their `datasource` block names. */
export function providersOf(models: string): DatabaseProvider[] {
  const { provider } = readModels(models);
  if (provider === undefined) return ['postgresql', 'sqlite'];
  if (provider === 'postgresql') return ['postgresql'];
  throw new UnsupportedModelsError(
    `Expected provider = "postgresql" in the datasource of prisma/models.prisma, got "${provider}". ` +
      'Leave the datasource out for a service that runs on PostgreSQL and on SQLite.',
  );
}

/**
 * The schema of one database, made of the models: each line keeps its number, so that Prisma's messages point into the
 * models. For SQLite, native types and indexes of kinds that only PostgreSQL has are left out: SQLite stores a value by
 * its Prisma type alone.
 *
 * @param head further blocks, such as a generator
 * @throws UnsupportedModelsError for what SQLite cannot hold
 */
export function providerModels(provider: DatabaseProvider, models: string, head = ''): string {
  const own = withoutDatasource(models);
  const body = provider === 'sqlite' ? sqliteModels(own) : own;
  return `${body}\n\ndatasource db {\n  provider = "${provider}"\n}\n${head}`;
}

/** Empty lines take the place of the block, which each database gets anew. */
function withoutDatasource(models: string): string {
  return models.replace(/^datasource\s+\w+\s*\{[ \t]*\n[^}]*\}/m, (block) => block.replace(/[^\n]/g, ''));
}

function sqliteModels(text: string): string {
  const { models } = readModels(text);
  const gaps = [...models].flatMap(([model, fields]) =>
    fields.flatMap((field) => {
      const gap = models.has(field.type) ? undefined : gapOf(field);
      return gap === undefined ? [] : [`${model}.${field.name} (line ${field.line}) ${gap}`];
    }),
  );
  if (gaps.length > 0) throw new UnsupportedModelsError(refusal(gaps));
  return text.split('\n').map(sqliteLine).join('\n');
}

const textOrNativeType = /"(?:[^"\\]|\\.)*"|\s*@db\.\w+(\([^)]*\))?/g;

function sqliteLine(line: string): string {
  const code = withoutComment(line);
  if (foreignIndex.test(code)) return '';
  if (!code.includes('@db.')) return line;
  return code.replace(textOrNativeType, (found) => (found.startsWith('"') ? found : '')) + line.slice(code.length);
}

/** What SQLite cannot hold of a field, and what would do instead. */
function gapOf({ type, list, attributes }: DeclaredField): string | undefined {
  if (list) return `is a list of ${type}: give it a model of its own and a relation, or keep the list in a Json field`;
  if (type.startsWith('Unsupported(')) return `is ${type}: use a type that Prisma knows`;
  if (attributes.includes('dbgenerated('))
    return 'has a default that PostgreSQL computes: use one of Prisma, such as uuid(7)';
  if (/\bautoincrement\(/.test(attributes) && !/@id\b/.test(attributes))
    return 'counts up and is no identifier: SQLite counts identifiers only';
  return undefined;
}

function refusal(gaps: readonly string[]): string {
  return (
    `SQLite cannot hold what prisma/models.prisma declares:\n${gaps.map((gap) => `  - ${gap}`).join('\n')}\n` +
    'Change these fields, or say that the service runs on PostgreSQL only: put into prisma/models.prisma\n' +
    '  datasource db {\n    provider = "postgresql"\n  }\n' +
    'Nothing of SQLite is generated, tested or asked for then.'
  );
}
