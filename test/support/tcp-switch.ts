import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** An instance behind a switch. */
export interface Backend {
  url: string;
  internalUrl: string;
}

const probeMs = 50;

/**
 * One port for several instances, as a Service of Kubernetes is: each new connection goes to the next instance that is
 * ready, and stays there. Knows nothing of HTTP, tries nothing twice and mends nothing.
 */
export class TcpSwitch {
  readonly #server = createServer({ allowHalfOpen: true }, (client) => this.#connect(client));
  readonly #backends = new Map<Backend, { ready: boolean; probe: NodeJS.Timeout }>();
  readonly #sockets = new Set<Socket>();
  #next = 0;

  /** Listens on a free port of loopback; the end of the block closes it. */
  static async start(): Promise<TcpSwitch> {
    const made = new TcpSwitch();
    made.#server.listen(0, '127.0.0.1');
    await once(made.#server, 'listening');
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sends connections to an instance from its first readiness on. */
  add(backend: Backend): void {
    const probe = setInterval(async () => {
      const ready = await isReady(backend);
      const known = this.#backends.get(backend);
      if (known) known.ready = ready;
    }, probeMs);
    this.#backends.set(backend, { ready: true, probe });
  }

  /** Forgets an instance. */
  remove(backend: Backend): void {
    clearInterval(this.#backends.get(backend)?.probe);
    this.#backends.delete(backend);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const backend of this.#backends.keys()) this.remove(backend);
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #connect(client: Socket): void {
    const ready = [...this.#backends].flatMap(([backend, state]) => (state.ready ? [backend] : []));
    this.#next += 1;
    const backend = ready[this.#next % ready.length];
    if (!backend) return void client.destroy();
    const server = connect({ port: Number(new URL(backend.url).port), host: '127.0.0.1', allowHalfOpen: true });
    this.#join(client, server);
    this.#join(server, client);
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.setNoDelay(true).pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      if (from.errored) to.destroy();
    });
  }
}

async function isReady({ internalUrl }: Backend): Promise<boolean> {
  try {
    return (await fetch(`${internalUrl}/readyz`)).ok;
  } catch {
    return false;
  }
}
