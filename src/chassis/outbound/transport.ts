import type { CircuitBreakerPolicy } from 'cockatiel';
import type { Pool } from 'undici';
import { CallRoom } from './call-room.ts';
import { PeerFailure } from './peer-failure.ts';

/** How a peer is connected to, and when it is left alone. */
export interface TransportOptions {
  /** Base URL. */
  url: string;
  connections: number;
  queue: number;
  /** How many of the connections only clients with no call under way may have. Default 0. */
  kept?: number;
  /** Whether a call ends with the head of its answer: bodies are read as their readers take them, on connections of their own. */
  streams?: boolean;
  breaker: { calls: number; failedShare: number; openMs: number };
  /** Hears of each change of the circuit breaker. */
  onState: (state: BreakerState) => void;
}

/** Closed: calls go through. Open: none does. Half open: one tries. */
export type BreakerState = 'closed' | 'open' | 'half open';

/** The connections to a peer, and who is let through to them. */
export interface Transport {
  readonly pool: Pool;
  /**
   * Runs an attempt, once one of the connections is free, of which no client keeps all from others.
   *
   * @param attempt is told whether it decides if the circuit breaker closes or opens again: then it has to go on until the
   * peer has answered or its time has passed, whatever its client does
   * @throws PeerFailure when the circuit breaker is open, or too many wait
   */
  guard<T>(attempt: (decides: boolean) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

const states: readonly BreakerState[] = ['closed', 'open', 'half open', 'open'];

/** Loads what calls are made with, which only services that call others need, and opens the pool. */
export async function openTransport({
  url,
  connections,
  queue,
  kept,
  streams = false,
  breaker,
  onState,
}: TransportOptions): Promise<Transport> {
  const [{ BrokenCircuitError, ...cockatiel }, { Pool }] = await Promise.all([import('cockatiel'), importUndici()]);
  const { circuitBreaker, CircuitState, CountBreaker, handleWhen } = cockatiel;
  const circuit: CircuitBreakerPolicy = circuitBreaker(
    handleWhen((error) => error instanceof PeerFailure && error.isOfPeer),
    {
      halfOpenAfter: breaker.openMs,
      breaker: new CountBreaker({
        threshold: breaker.failedShare,
        size: breaker.calls,
        minimumNumberOfCalls: Math.ceil(breaker.calls / 2),
      }),
    },
  );
  circuit.onStateChange((state) => onState(states[state] ?? 'closed'));
  const room = new CallRoom(connections, queue, kept);
  const pool = new Pool(new URL(url).origin, {
    connections: streams ? null : connections,
    pipelining: 1,
    allowH2: false,
  });
  const guard = async <T>(attempt: (decides: boolean) => Promise<T>, signal?: AbortSignal) => {
    try {
      const decide = () => attempt(circuit.state === CircuitState.HalfOpen);
      return await room.run(() => circuit.execute(decide, signal), signal);
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      throw new PeerFailure({ reason: 'circuit open', retryAfterMs: breaker.openMs, cause: error });
    }
  };
  return { pool, guard };
}

/** What `fetch` of this process sends its requests with. */
const dispatchers = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];

/** Loads undici, which would put its own dispatcher in the place of the one that `fetch` of Node has. */
async function importUndici(): Promise<typeof import('undici')> {
  const global = globalThis as unknown as Record<symbol, unknown>;
  const before = dispatchers.map((key) => global[key]);
  const undici = await import('undici');
  for (const [index, key] of dispatchers.entries()) if (global[key] !== before[index]) global[key] = before[index];
  return undici;
}
