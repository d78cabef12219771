import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const running = new Set<ChildProcess>();

/** Spawns the service from source with just these variables. */
function spawnService(env: Record<string, string>) {
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', INTERNAL_PORT: '0', NODE_ENV: 'test', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return { child, output: Promise.all([text(child.stdout), text(child.stderr)]), exit: once(child, 'exit') };
}

function freshDatabase(): string {
  return `file:${join(mkdtempSync(join(tmpdir(), 'slipway-start-')), 'service.db')}`;
}

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

describe('the process', () => {
  it('exits with code 1 and one message that lists every problem of the configuration', async () => {
    const { output, exit } = spawnService({ PORT: 'x', LOG_LEVEL: 'loud' });
    expect((await exit)[0]).toBe(1);
    const [stdout] = await output;
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(stdout).toMatch(/PORT: expected.*LOG_LEVEL: expected/);
  });

  it('logs a database that cannot be reached and exits with code 1 (spec.md: Handling, rule 6)', async () => {
    const { output, exit } = spawnService({ DATABASE_URL: 'postgresql://nobody:secret@127.0.0.1:1/nothing' });
    expect((await exit)[0]).toBe(1);
    const [stdout] = await output;
    expect(stdout).toContain('database connection failed');
    expect(stdout).not.toContain('secret');
  });

  it('says which port is taken and what to do', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { output, exit } = spawnService({ PORT: String(port), DATABASE_URL: freshDatabase() });
    expect((await exit)[0]).toBe(1);
    expect((await output)[0]).toMatch(
      new RegExp(`Expected to listen on 127.0.0.1:${port}, found another process there`),
    );
    taken.close();
  });

  it('migrates, seeds, serves, and ends with code 0 on SIGTERM', async () => {
    const { child, exit, output } = spawnService({
      DATABASE_URL: freshDatabase(),
      NODE_ENV: 'development',
      DATABASE_SEED: 'small',
      LOG_LEVEL: 'info',
    });
    const url = await listeningAt(child);
    const { total } = (await (await fetch(`${url}/api/v1/products/paginated`)).json()) as { total: number };
    expect(total).toBe(1000);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    child.kill('SIGTERM');
    expect((await exit)[0]).toBe(0);
    const [stdout, stderr] = await output;
    for (const loader of ['connectOrm', 'loadDI', 'loadExpressApp', 'loadRoutes', 'loadOpenApi']) {
      expect(stdout).toContain(`${loader} done`);
    }
    expect(stderr).toBe('');
  });
});

/** The public address, once the service says that it is ready. */
function listeningAt(child: ChildProcess): Promise<string> {
  let seen = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      seen += chunk;
      const url = /ready at (http:\/\/[^\s",]+)/.exec(seen)?.[1];
      if (url) resolve(url);
    });
    child.once('exit', () => reject(new Error(`The service ended before it listened:\n${seen}`)));
  });
}
