import { startPgbouncer as start } from '../../load-tests/servers/pgbouncer.ts';
import { whenDone } from '../../src/chassis/testing/when-done.ts';

/**
 * Starts a real pgbouncer in transaction mode in front of a database, until the end of the test or of the file.
 *
 * @param connections how many it opens to the server at most
 * @returns the URL of the database behind it, as a service takes it
 */
export async function startPgbouncer(database: string, connections: number): Promise<string> {
  const opened = new AsyncDisposableStack();
  whenDone(() => opened.disposeAsync());
  const { url } = await start(opened, database, connections);
  return url;
}
