import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readEnvironment, type Variables } from '../../config/environment.ts';
import { databaseProgram, importFile } from '../../config/layout.ts';
import { openDatabase } from '../../database/client/orm.ts';

/**
 * Fills the database of DATABASE_URL with the sample data of prisma/seed.ts. `--size` is `small`, the default outside
 * production, or `full`.
 *
 * @throws Error with what is wrong
 */
export async function seed(args: string[], env: Variables): Promise<void> {
  const { values } = parseArgs({ options: { size: { type: 'string' } }, args });
  const size = values.size ?? 'small';
  if (size !== 'small' && size !== 'full') throw new Error(`Expected --size small or --size full, got "${size}".`);
  const settings = readEnvironment({}, env, 'command');
  const production = settings.NODE_ENV === 'production';
  if (production && values.size === undefined) {
    throw new Error('In production sample data is stored only when asked for: name --size small or --size full.');
  }
  const file = databaseProgram('seed');
  if (!existsSync(file)) throw new Error(`Expected ${file}, found nothing; write it, or build the service again.`);
  const { seed: store } = await importFile(file);
  const { client, close } = await openDatabase(settings);
  try {
    console.log((await store(client, { size, accounts: !production })) ?? 'The sample data is stored.');
  } finally {
    await close();
  }
}
