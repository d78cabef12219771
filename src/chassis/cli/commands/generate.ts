import { parseArgs } from 'node:util';
import { areClientsFresh, generateClients } from '../generate-clients.ts';

/** Generates the clients of the databases; does nothing while they are newer than the models, unless `--force` says so. */
export async function generate(args: string[]): Promise<void> {
  const { values } = parseArgs({ options: { force: { type: 'boolean' } }, args });
  if (values.force || !areClientsFresh()) generateClients();
}
