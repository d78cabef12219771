import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';
import { TestServer } from './test-server.ts';

/** Why tests of Redis are skipped here; empty where they run. */
export const withoutRedis =
  spawnSync('redis-server', ['--version']).status === 0 ? '' : ' (skipped: no redis-server in the PATH)';

/** A real redis-server on a free port, which comes back with nothing in it. */
export class TestRedis extends TestServer {
  readonly url = `redis://127.0.0.1:${this.port}`;
  protected readonly program = {
    command: 'redis-server',
    options: ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()],
    greeting: 'PING\r\n',
  };

  static async start(): Promise<TestRedis> {
    const redis = new TestRedis(await freePort());
    await redis.start();
    return redis;
  }
}
