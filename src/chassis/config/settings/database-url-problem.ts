import { isUrlOf } from './setting-types.ts';

/** What is wrong with a `DATABASE_URL`, as a sentence that repeats nothing of it; undefined when nothing is. */
export function databaseUrlProblem(text: string): string | undefined {
  if (!hasDatabase(text)) return undefined;
  if (/^file:./.test(text)) return filePath.test(text) ? undefined : 'expected the path of a file behind file:';
  if (!/^postgres(ql)?:\/\/./.test(text)) return 'expected postgresql://…, file:… or none';
  if (!isUrlOf(text, 'postgresql', 'postgres')) {
    return 'expected host and port (1 to 65535) as in postgresql://user:password@host:5432/database, special characters of the password percent-encoded';
  }
  const schema = new URL(text).searchParams.get('schema') ?? '';
  return /^[\w-]*$/.test(schema) ? undefined : 'expected letters, digits, _ and - in ?schema=';
}

/** On this machine, not in memory, and percent-encoded where it is encoded at all. */
const filePath = /^file:(?:\/\/(?=\/))?(?!\/\/|:memory:$|[?#])(?:[^%?#]|%[\da-f]{2})+(?:[?#].*)?$/is;

/** Whether a service with this `DATABASE_URL` has a database; one of `none` has not. */
export function hasDatabase(url: string): boolean {
  return url !== 'none';
}
