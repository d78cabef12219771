import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import process from 'node:process';

/** A server program on a port of loopback, which can go away and come back. */
export abstract class TestServer {
  readonly port: number;
  /** How it is started, and what a client has to send before it says something; nothing where it speaks first. */
  protected abstract readonly program: {
    readonly command: string;
    readonly options: readonly string[];
    greeting?: string;
  };
  #server: ChildProcess | undefined;

  constructor(port: number) {
    this.port = port;
  }

  /** Starts it and waits until it answers. */
  async start(): Promise<void> {
    const { command, options, greeting } = this.program;
    const server = spawn(command, options, { stdio: 'ignore' });
    this.#server = server;
    while (!(await answers(this.port, greeting)))
      if (server.exitCode !== null) throw new Error(`${command} ended at its start`);
  }

  /** Has it hang: connections stay, and nothing is answered. */
  freeze(): void {
    this.#server?.kill('SIGSTOP');
  }

  /** Has it go on. */
  thaw(): void {
    this.#server?.kill('SIGCONT');
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
}

function answers(port: number, greeting: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => setTimeout(resolve, 10, false));
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    if (greeting !== undefined) socket.write(greeting);
  });
}
