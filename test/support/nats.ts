import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { skipped, tool } from '../chart/chart.ts';
import { freePort } from './free-port.ts';

/** Why tests of NATS are skipped here; empty where they run. */
export const withoutNats = skipped('nats-server');

/** A real nats-server with JetStream on a free port, which can go away and come back with what it had. */
export class TestNats {
  readonly port: number;
  readonly url: string;
  readonly #directory = mkdtempSync(join(tmpdir(), 'slipway-nats-'));
  #server: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
    this.url = `nats://service:secret@127.0.0.1:${port}`;
  }

  /** A server on a port that nobody has, not yet started. */
  static async prepare(): Promise<TestNats> {
    return new TestNats(await freePort());
  }

  /** Starts it and waits until it answers. */
  async start(): Promise<void> {
    const address = ['--addr', '127.0.0.1', '--port', String(this.port), '--user', 'service', '--pass', 'secret'];
    const options = [...address, '--jetstream', '--store_dir', this.#directory];
    const server = spawn(tool('nats-server') ?? 'nats-server', options, { stdio: 'ignore' });
    this.#server = server;
    while (!(await answers(this.port))) if (server.exitCode !== null) throw new Error('nats-server ended at its start');
  }

  /** Kills it, by its process id. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const closed = once(server, 'close');
    if (server.pid !== undefined) process.kill(server.pid, 'SIGKILL');
    await closed;
  }

  /** Kills it and removes what it has stored. */
  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => setTimeout(resolve, 10, false));
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
