import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import {
  BadRequestException,
  ConflictException,
  InsufficientStorageException,
  NotFoundException,
} from '../errors/exceptions.ts';
import type { Logger } from '../telemetry/logger.ts';
import { authorizeOperator } from './authorize-operator.ts';

/** An answer, with its whole body or a stream of it. */
export interface InternalAnswer {
  status: number;
  contentType: string;
  text: string | Buffer;
  /** Is sent in the place of `text`, as it comes. */
  stream?: Readable;
}

const mostSeconds = 60;
const defaultSeconds = 10;
/** Taking a snapshot of more would stop the service for seconds and may need as much memory again. */
const mostHeapBytes = 536_870_912;
const mostSnapshotBytes = 2_147_483_648;

interface DiagnosticsOptions {
  settings: { DIAGNOSTICS_ENABLED: boolean; INTERNAL_TOKEN?: string | undefined };
  logger: Logger;
}

/**
 * CPU profiles and heap snapshots of the running process, one at a time, for callers with `INTERNAL_TOKEN`; 404 unless
 * `DIAGNOSTICS_ENABLED` is on, because both slow the service and a snapshot holds every secret in its memory.
 */
export class Diagnostics {
  readonly #options: DiagnosticsOptions;
  #running = false;

  constructor(options: DiagnosticsOptions) {
    this.#options = options;
  }

  /**
   * A CPU profile, as Chrome's developer tools read it, of `?seconds=` from now on: 1 to 60, by default 10. It ends early
   * when its client goes away.
   *
   * @throws NotFoundException where it is off; UnauthorizedException; BadRequestException; ConflictException while another is under way
   */
  cpuProfile(req: IncomingMessage): Promise<InternalAnswer> {
    return this.#run(req, 'CPU profile', async () => {
      const seconds = secondsOf(req);
      req.socket.setTimeout((seconds + 10) * 1000);
      const { Session } = await import('node:inspector/promises');
      const session = new Session();
      session.connect();
      try {
        await session.post('Profiler.enable');
        await session.post('Profiler.start');
        await waitFor(req, seconds);
        const { profile } = await session.post('Profiler.stop');
        return { status: 200, contentType: 'application/json; charset=utf-8', text: JSON.stringify(profile) };
      } finally {
        session.disconnect();
      }
    });
  }

  /**
   * A heap snapshot, sent as it is made. The service answers nothing while it is taken.
   *
   * @throws NotFoundException where it is off; UnauthorizedException; ConflictException while another is under way; InsufficientStorageException for a heap above 512 MB
   */
  heapSnapshot(req: IncomingMessage): Promise<InternalAnswer> {
    return this.#run(req, 'heap snapshot', async () => {
      const { used_heap_size: used } = getHeapStatistics();
      if (used > mostHeapBytes) {
        throw new InsufficientStorageException(`Expected a heap of at most ${mostHeapBytes} bytes, found ${used}`);
      }
      req.socket.setTimeout(mostSeconds * 1000);
      return {
        status: 200,
        contentType: 'application/json; charset=utf-8',
        text: '',
        stream: bounded(getHeapSnapshot()),
      };
    });
  }

  async #run(req: IncomingMessage, what: string, work: () => Promise<InternalAnswer>): Promise<InternalAnswer> {
    const { settings, logger } = this.#options;
    if (!settings.DIAGNOSTICS_ENABLED) throw new NotFoundException('No diagnostics: DIAGNOSTICS_ENABLED is off');
    authorizeOperator(req, settings.INTERNAL_TOKEN);
    if (this.#running) throw new ConflictException('Another profile or snapshot is under way; try again after it');
    this.#running = true;
    const began = performance.now();
    logger.warn({ address: req.socket.remoteAddress }, `${what} started`);
    const done = () => {
      this.#running = false;
      logger.warn({ ms: Math.round(performance.now() - began) }, `${what} done`);
    };
    try {
      const answer = await work();
      if (answer.stream) answer.stream.once('close', done);
      else done();
      return answer;
    } catch (error) {
      done();
      throw error;
    }
  }
}

function secondsOf(req: IncomingMessage): number {
  const text = new URL(req.url ?? '/', 'http://localhost').searchParams.get('seconds') ?? String(defaultSeconds);
  if (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= mostSeconds) return Number(text);
  throw new BadRequestException(
    `Expected seconds from 1 to ${mostSeconds}, found ${JSON.stringify(text.slice(0, 20))}`,
  );
}

async function waitFor(req: IncomingMessage, seconds: number): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  req.socket.once('close', leave);
  try {
    await wait(seconds * 1000, undefined, { signal: gone.signal });
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    req.socket.off('close', leave);
  }
}

function bounded(snapshot: ReturnType<typeof getHeapSnapshot>): ReturnType<typeof getHeapSnapshot> {
  let sent = 0;
  snapshot.on('data', (chunk: string | Buffer) => {
    sent += chunk.length;
    if (sent > mostSnapshotBytes)
      snapshot.destroy(new Error(`A heap snapshot of more than ${mostSnapshotBytes} bytes`));
  });
  snapshot.pause();
  return snapshot;
}
