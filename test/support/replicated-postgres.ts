import {
  type ReplicatedPostgres,
  startReplicatedPostgres as start,
} from '../../load-tests/servers/replicated-postgres.ts';
import { whenDone } from '../../src/chassis/testing/when-done.ts';

/** Starts a PostgreSQL server and its streaming replica, until the end of the test or of the file. */
export function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const opened = new AsyncDisposableStack();
  whenDone(() => opened.disposeAsync());
  return start(opened);
}
