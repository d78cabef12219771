import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';

const executable = '/usr/sbin/pgbouncer';

/** Why tests of pgbouncer are skipped here; empty where they run. */
export const withoutPgbouncer = existsSync(executable) ? '' : ' (skipped: no pgbouncer; apt-get install pgbouncer)';

/**
 * Starts a real pgbouncer in transaction mode in front of a database, to be ended with `opened`.
 *
 * @param connections how many it opens to the server at most
 * @returns the URL of the database behind it, as a service takes it, and its process
 */
export async function startPgbouncer(
  opened: AsyncDisposableStack,
  database: string,
  connections: number,
): Promise<{ url: string; pid: number }> {
  const url = new URL(database);
  const [directory, port] = [mkdtempSync(join(tmpdir(), 'slipway-pgbouncer-')), await freePort()];
  chmodSync(directory, 0o755);
  const file = join(directory, 'pgbouncer.ini');
  const server = `host=${url.hostname} port=${url.port} user=${url.username} password=${url.password}`;
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: connections,
    max_client_conn: 500,
    ignore_startup_parameters: 'extra_float_digits',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(file, `[databases]\n* = ${server}\n[pgbouncer]\n${lines.join('\n')}\n`, { mode: 0o644 });
  // It does not run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(executable, ['-q', ...user, file], { stdio: 'ignore' });
  opened.defer(() => stop(child, directory));
  while (!(await accepts(port))) if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
  url.host = `127.0.0.1:${port}`;
  url.searchParams.set('pgbouncer', 'true');
  return { url: url.href, pid: child.pid ?? 0 };
}

async function stop(child: ChildProcess, directory: string): Promise<void> {
  if (child.exitCode === null && child.pid !== undefined) {
    const closed = once(child, 'close');
    process.kill(child.pid, 'SIGKILL');
    await closed;
  }
  rmSync(directory, { recursive: true, force: true });
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => setTimeout(resolve, 20, false));
    socket.once('connect', () => socket.destroy());
  });
}
