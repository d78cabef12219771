import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { startPostgres } from '../../src/chassis/testing/postgres.ts';
import { percentile } from '../support/open-loop.ts';
import { boot, capacityOf, count, good, load, pin } from './overload.ts';

/** What a neighbour that never rests takes from a service on the same core. Rates are per second, times in milliseconds. */
export interface NeighbourResult {
  /** Answers while the service has the core to itself, and beside the neighbour. */
  alone: number;
  beside: number;
  /** Answers of each status to as many clients as before, who wait for theirs, beside the neighbour. */
  closed: Record<number, number>;
  /** The same where four fifths of what the service took alone comes, whoever waits; 0 for none. */
  open: Record<number, number>;
  /** The part of `beside` that was answered with 200 meanwhile. */
  share: number;
  /** Of the answers with 200 meanwhile: none is refused while others wait for less than the target. */
  p50: number;
  /** Answers of each status from two seconds after the neighbour's end on, at half of `alone`. */
  after: Record<number, number>;
}

const closedLoop = 64;
/** Waits of half a second need as many requests under way as come in that time. */
const openLoop = 4000;

/**
 * Halves the CPU of a service under load: a process that never rests comes to its core, and leaves again.
 *
 * @param databaseUrl an empty database
 * @param seconds how long each part takes
 * @param core of this machine, which the service is kept to
 */
export async function noisyNeighbour(databaseUrl: string, seconds: number, core: number): Promise<NeighbourResult> {
  const { service, url } = await boot(databaseUrl, 'small', { HTTP_MAX_CONNECTIONS_PER_ADDRESS: `${openLoop}` });
  pin(service.child.pid, core);
  await load(url, (loop) => loop.saturate(closedLoop, seconds));
  const alone = await capacityOf(url, seconds);
  const neighbour = spawn(process.execPath, ['--eval', 'for (;;);']);
  try {
    pin(neighbour.pid, core);
    const closed = await load(url, (loop) => loop.saturate(closedLoop, seconds));
    const open = await load(url, (loop) => loop.run(alone * 0.8, seconds), openLoop);
    neighbour.kill('SIGKILL');
    await once(neighbour, 'close');
    await load(url, (loop) => loop.run(alone / 2, 2));
    const after = await load(url, (loop) => loop.run(alone / 2, seconds));
    const times = good(open).map(({ ms }) => ms);
    const beside = good(closed).length / seconds;
    return {
      alone: Math.round(alone),
      beside: Math.round(beside),
      closed: count(closed.map(({ status }) => status)),
      open: count(open.map(({ status }) => status)),
      share: Math.round((times.length / seconds / beside) * 100) / 100,
      p50: Math.round(percentile(times, 0.5)),
      after: count(after.map(({ status }) => status)),
    };
  } finally {
    neighbour.kill('SIGKILL');
    await service.end();
  }
}

// The service and its neighbour have one core, clients and database the other.
if (import.meta.main) {
  pin(process.pid, 1);
  const postgres = await startPostgres();
  try {
    const result = await noisyNeighbour(await postgres.createDatabase('neighbour'), 10, 0);
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await postgres.stop();
  }
}
