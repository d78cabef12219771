import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { expect } from 'vitest';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';

/** A service that runs in a process of its own. */
export interface RunningService {
  readonly url: string;
  readonly port: number;
}

/**
 * Starts the service of a directory as `npm start` does in development, on free ports, and ends it once it was used.
 *
 * @param directory where its packages are installed
 * @param more variables beside those. Default: none
 * @throws what `use` raises, and where the service does not end with code 0
 */
export async function withService(
  directory: string,
  use: (service: RunningService) => Promise<void>,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const [port, internalPort] = [await freePort(), await freePort()];
  const ports = { PORT: String(port), INTERNAL_PORT: String(internalPort) };
  // npm itself ends by the signal that it gets.
  const child = spawn('node_modules/.bin/node', ['src/main.ts'], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'development', LOG_LEVEL: 'info', ...ports, ...more },
  });
  const exit = once(child, 'exit');
  try {
    const output = child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false });
    let said = '';
    for await (const text of output) {
      said += text;
      if (said.includes('ready at')) break;
    }
    expect(said).toContain('ready at');
    await use({ url: `http://127.0.0.1:${port}`, port });
  } finally {
    child.stdout.resume();
    child.kill('SIGTERM');
    await exit;
  }
  expect(child.exitCode).toBe(0);
}
