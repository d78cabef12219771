import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';
import { skipped, tool } from '../chart/chart.ts';
import { TestServer } from './test-server.ts';

/** Why tests of NATS are skipped here; empty where they run. */
export const withoutNats = skipped('nats-server');

/** A real nats-server with JetStream on a free port, which can go away and come back with what it had. */
export class TestNats extends TestServer {
  readonly url = `nats://service:secret@127.0.0.1:${this.port}`;
  readonly #directory = mkdtempSync(join(tmpdir(), 'slipway-nats-'));
  protected readonly program = {
    command: tool('nats-server') ?? 'nats-server',
    options: [
      ...['--addr', '127.0.0.1', '--port', String(this.port), '--user', 'service', '--pass', 'secret'],
      ...['--jetstream', '--store_dir', this.#directory],
    ],
  };

  /** A server on a port that nobody has, not yet started. */
  static async prepare(): Promise<TestNats> {
    return new TestNats(await freePort());
  }

  /** Kills it and removes what it has stored. */
  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
