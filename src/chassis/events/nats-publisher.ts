import { type JetStreamClient, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '../telemetry/logger.ts';
import type { CloudEvent } from './cloud-event.ts';

/** Where events are published. */
export interface NatsPublisherOptions {
  /** One URL or several by commas, such as `nats://user:password@nats:4222`; one `tls://` encrypts all. */
  readonly url: string;
  /** What stands before the event's name in the subject. */
  readonly prefix: string;
  /** The stream to make where there is none of this name; undefined leaves streams to others. */
  readonly stream: string | undefined;
  /** How the service calls itself at the server. */
  readonly name: string;
  readonly logger: Logger;
}

const connectTimeoutMs = 2000;
const publishTimeoutMs = 5000;

interface Connected {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
}

/** Publishes events to NATS JetStream. It connects with the first event, and again whenever the server is back. */
export class NatsPublisher {
  readonly #options: NatsPublisherOptions;
  #connected: Promise<Connected> | undefined;

  constructor(options: NatsPublisherOptions) {
    this.#options = options;
  }

  /**
   * Publishes an event to the subject `<prefix>.<event>`; resolves once a stream has stored it. One that was stored within
   * the stream's window for doubles is not stored again.
   *
   * @throws Error when the server cannot be reached, or no stream takes the subject
   */
  async publish(event: CloudEvent): Promise<void> {
    const { client } = await this.#connect();
    const named = headers();
    named.set('Content-Type', 'application/cloudevents+json');
    const subject = `${this.#options.prefix}.${event.type}`;
    await client.publish(subject, JSON.stringify(event), {
      msgID: event.id,
      headers: named,
      timeout: publishTimeoutMs,
    });
  }

  /** Ends the connection, if there is one. */
  async close(): Promise<void> {
    const connected = this.#connected;
    this.#connected = undefined;
    const { connection } = (await connected?.catch(() => undefined)) ?? {};
    await connection?.close();
  }

  #connect(): Promise<Connected> {
    this.#connected ??= this.#open().catch((error: unknown) => {
      this.#connected = undefined;
      throw error;
    });
    return this.#connected;
  }

  async #open(): Promise<Connected> {
    const { url, name, logger } = this.#options;
    const timeout = connectTimeoutMs;
    const connection = await connect({ ...serversOf(url), name, timeout, maxReconnectAttempts: -1 });
    void connection.closed().then((error) => {
      if (error) logger.warn({ err: error }, 'connection to NATS lost');
      this.#connected = undefined;
    });
    try {
      await this.#makeStream(connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
    return { connection, client: jetstream(connection) };
  }

  async #makeStream(connection: NatsConnection): Promise<void> {
    const { stream, prefix } = this.#options;
    if (stream === undefined) return;
    const { streams } = await jetstreamManager(connection);
    for await (const name of streams.names()) if (name === stream) return;
    await streams.add({ name: stream, subjects: [`${prefix}.>`] });
  }
}

/** The client takes user, password and encryption apart from the addresses. */
function serversOf(text: string) {
  const urls = text.split(',').map((url) => new URL(url.trim()));
  const [{ username, password }] = urls as [URL, ...URL[]];
  return {
    servers: urls.map(({ host }) => host),
    ...(username !== '' && password === '' && { token: decodeURIComponent(username) }),
    ...(password !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    // It encrypts all or none, and one of them must not get the password in plain text.
    ...(urls.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
  };
}
