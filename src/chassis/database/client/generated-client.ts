import { join } from 'node:path';
import { generatedDirectory, importFile, sourceExtension } from '../../config/layout.ts';
import type { DataModel } from '../models/data-model.ts';
import type { DatabaseProvider } from './database-url.ts';

/** The untyped core of a generated client, of which nothing is known here but what all of them have. */
interface BareClient {
  $disconnect(): Promise<void>;
}

/** What `npm run generate` made for one database. */
interface GeneratedClient {
  readonly Client: new (options: object) => BareClient;
  readonly dataModel: DataModel;
}

/**
 * Loads the client of a database and the data model of its models.
 *
 * @throws Error when it was not generated
 */
export async function loadGeneratedClient(
  provider: DatabaseProvider,
  directory = generatedDirectory,
): Promise<GeneratedClient> {
  const file = join(directory, provider, `client${sourceExtension}`);
  try {
    const { PrismaClient, Prisma } = await importFile(file);
    // Decimals are written with all their digits, never as 1e-8, so that what a client reads it can also send.
    Prisma.Decimal.set({ toExpNeg: -9e15, toExpPos: 9e15 });
    const { dataModel } = await importFile(join(directory, `data-model${sourceExtension}`));
    return { Client: PrismaClient, dataModel };
  } catch (cause) {
    const message = `Expected the ORM client for ${provider} in ${file}, which cannot be loaded. Run "npm run generate".`;
    throw new Error(message, { cause });
  }
}
