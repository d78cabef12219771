import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import process from 'node:process';
import { freePort } from './free-port.ts';

/** Why tests of Redis are skipped here; empty where they run. */
export const withoutRedis =
  spawnSync('redis-server', ['--version']).status === 0 ? '' : ' (skipped: no redis-server in the PATH)';

/** A real redis-server on a free port, which can go away and come back. */
export class TestRedis {
  readonly port: number;
  readonly url: string;
  #server: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
    this.url = `redis://127.0.0.1:${port}`;
  }

  static async start(): Promise<TestRedis> {
    const redis = new TestRedis(await freePort());
    await redis.start();
    return redis;
  }

  /** Starts it with nothing in it and waits until it answers. */
  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()];
    this.#server = spawn('redis-server', options, { stdio: 'ignore' });
    const server = this.#server;
    while (!(await answers(this.port)))
      if (server.exitCode !== null) throw new Error('redis-server ended at its start');
  }

  /** Has it hang: connections stay, and nothing is answered. */
  freeze(): void {
    this.#server?.kill('SIGSTOP');
  }

  /** Has it go on. */
  thaw(): void {
    this.#server?.kill('SIGCONT');
  }

  /** Ends it, by its process id. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const closed = once(server, 'close');
    if (server.pid !== undefined) process.kill(server.pid, 'SIGKILL');
    await closed;
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
    socket.write('PING\r\n');
  });
}
