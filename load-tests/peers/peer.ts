import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

/** A server to measure: its entry file, what is loaded before it, and its environment. Paths are from this folder. */
export interface Peer {
  name: string;
  entry: string;
  preload?: string;
  env?: Record<string, string>;
  /** What it answers with 200 once it has started. Default: `/ping`. */
  readyAt?: string;
}

/** A peer that answers. */
export interface RunningPeer {
  port: number;
  /** Milliseconds from spawn to the first 200. */
  startMs: number;
  /** CPU milliseconds that it has used up to now. */
  cpuMs(): number;
  /** Megabytes that it has in memory now. */
  megabytes(): number;
  stop(): Promise<void>;
}

const clockTicks = 100;
const mostStartMs = 120_000;

/** Starts a peer on the first core, its output in a file, and waits for its first 200. */
export async function startPeer(peer: Peer, logDirectory: string): Promise<RunningPeer> {
  const port = await freePort();
  const cache = join(logDirectory, 'compiled');
  const log = openSync(join(logDirectory, `${peer.name}.log`), 'a');
  const path = (file: string) => join(import.meta.dirname, file);
  // Node writes what it compiled when a process exits by itself.
  const preload = ['entries/exit-on-signal.js', ...(peer.preload ? [peer.preload] : [])].flatMap((file) => [
    '--import',
    path(file),
  ]);
  const started = performance.now();
  const child = spawn('taskset', ['-c', '0', process.execPath, ...preload, path(peer.entry)], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', PORT: String(port), NODE_COMPILE_CACHE: cache, ...peer.env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  while (!(await answers(port, peer.readyAt ?? '/ping'))) {
    if (child.exitCode !== null) throw new Error(`${peer.name} ended at its start; see ${logDirectory}`);
    if (performance.now() - started > mostStartMs) {
      child.kill('SIGKILL');
      throw new Error(`${peer.name} gave no 200 within ${mostStartMs / 1000} s; see ${logDirectory}`);
    }
    await delay(1);
  }
  const startMs = performance.now() - started;
  return { port, startMs, cpuMs: () => cpuOf(child), megabytes: () => memoryOf(child), stop: () => stop(child) };
}

async function answers(port: number, path: string): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}${path}`)).status === 200;
  } catch {
    return false;
  }
}

/** User and system time of a process, from its accounting in /proc. */
function cpuOf({ pid }: ChildProcess): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / clockTicks;
}

function memoryOf({ pid }: ChildProcess): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
