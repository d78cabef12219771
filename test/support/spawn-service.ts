import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { inject } from 'vitest';
import { anyProvider, onServer } from './empty-database.ts';

const root = join(import.meta.dirname, '../..');

/** One line of the log. */
export interface LogLine {
  level: string;
  msg: string;
  [field: string]: unknown;
}

/** What to spawn, beside the service as it is built. */
export interface SpawnOptions {
  /** Environment variables beside those that every spawned service gets. */
  env?: Record<string, string>;
  /** The program and its arguments. */
  program?: string[];
  /** Where its standard output goes; a pipe that is read here by default. */
  stdout?: number;
}

const spawned = new Set<SpawnedService>();
const schemas: string[] = [];

/** Kills what a test has left running; for `afterAll`. */
export async function killSpawned(): Promise<void> {
  await Promise.all([...spawned].map((service) => service.kill()));
  for (const schema of schemas.splice(0)) await onServer(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
}

/** A service in a process of its own. */
export class SpawnedService {
  readonly child: ChildProcess;
  /** Resolves when the process has ended and all its output has come. */
  readonly closed: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  stderr = '';
  #stdout = '';

  constructor({ env, program = ['dist-test/main.js'], stdout }: SpawnOptions) {
    this.child = spawn(process.execPath, program, {
      cwd: root,
      env: { ...{ PATH: process.env['PATH'], NODE_ENV: 'test' }, ...loopback, DATABASE_URL: freshDatabase(), ...env },
      stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
    });
    spawned.add(this);
    this.closed = once(this.child, 'close').then(([code, signal]) => {
      spawned.delete(this);
      return { code, signal };
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
  }

  /** Everything it wrote. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Its log lines so far. */
  get lines(): LogLine[] {
    const whole = this.#stdout.slice(0, this.#stdout.lastIndexOf('\n') + 1);
    return whole.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  }

  /** Waits for the first log line whose message begins with `text`. */
  line(text: string): Promise<LogLine> {
    return this.#output(`the line "${text}"`, () => this.lines.find(({ msg }) => msg.startsWith(text)));
  }

  /** Waits until what it wrote matches; gives the first group. */
  text(pattern: RegExp): Promise<string> {
    return this.#output(String(pattern), () => pattern.exec(this.#stdout)?.[1]);
  }

  /** Waits until it is ready and gives its addresses. */
  async ready(): Promise<{ url: string; internalUrl: string }> {
    const { urls, internalUrl } = await this.line('ready at');
    return { url: (urls as string[])[0] ?? '', internalUrl: internalUrl as string };
  }

  async #output<T>(wanted: string, find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.child.stdout?.readableEnded) {
        throw new Error(`Expected ${wanted}, got:\n${this.#stdout}${this.stderr}`);
      }
      await Promise.race([once(this.child.stdout ?? this.child, 'data'), this.closed]);
    }
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.child.kill(signal);
    return this.closed;
  }

  /** Kills it if it is still there. */
  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.closed;
  }
}

const loopback = {
  HOST: '127.0.0.1',
  PORT: '0',
  INTERNAL_HOST: '127.0.0.1',
  INTERNAL_PORT: '0',
  LOG_LEVEL: 'info',
  RATE_LIMIT_ENABLED: 'false',
};

/** A file, or for a service on PostgreSQL only a schema, which the migrations make. */
function freshDatabase(): string {
  if (anyProvider === 'postgresql') {
    const schema = `spawned_${process.pid}_${randomUUID().slice(0, 8)}`;
    schemas.push(schema);
    const url = new URL(inject('postgresUrl'));
    url.searchParams.set('schema', schema);
    return url.href;
  }
  return `file:${join(mkdtempSync(join(tmpdir(), 'slipway-spawned-')), 'service.db')}`;
}
