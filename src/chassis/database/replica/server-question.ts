import { Client } from 'pg';
import { runOutsideRequest } from '../../context/request-context.ts';
import { Coalescer } from '../reads/coalesce.ts';

/** How long a server may take to accept a connection, and to answer. */
const limitMs = 2000;

/**
 * One question that a server is asked again and again, over a connection of its own, which waits for nobody. All who ask
 * while it is under way share the next answer, so that the answer is never older than the call.
 */
export class ServerQuestion<Answer extends object> {
  readonly #connectionString: string;
  readonly #sql: string;
  readonly #shared = new Coalescer();
  #client: Client | undefined;

  /** @param sql gives one row */
  constructor(connectionString: string, sql: string) {
    this.#connectionString = connectionString;
    this.#sql = sql;
  }

  /** Connects, unless it is connected. @throws what the driver raises, within two seconds */
  async connect(): Promise<void> {
    if (this.#client) return;
    const client = new Client({
      connectionString: this.#connectionString,
      application_name: 'slipway',
      keepAlive: true,
      connectionTimeoutMillis: limitMs,
      query_timeout: limitMs,
    });
    // A connection that breaks while nobody asks is an 'error' event, which ends the process without a listener.
    client.on('error', () => this.#drop(client));
    client.on('end', () => this.#drop(client));
    try {
      await runOutsideRequest(() => client.connect());
      this.#client = client;
    } catch (error) {
      destroy(client);
      throw error;
    }
  }

  /** The answer to a question that is put after the call. @throws Error while not connected, and what the driver raises */
  ask(): Promise<Answer> {
    return this.#shared.run('', () => this.#query());
  }

  /** Ends the connection; `connect` opens another. */
  close(): void {
    if (this.#client) this.#drop(this.#client);
  }

  async #query(): Promise<Answer> {
    const client = this.#client;
    if (!client) throw new Error('not connected');
    try {
      const { rows } = await client.query<Answer>(this.#sql);
      return rows[0] as Answer;
    } catch (error) {
      // Whether its answer still comes is not known.
      this.#drop(client);
      throw error;
    }
  }

  #drop(client: Client): void {
    if (this.#client === client) this.#client = undefined;
    destroy(client);
  }
}

/** At once: a server that is gone without a word takes no farewell. */
function destroy(client: Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
