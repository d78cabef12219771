import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientKey } from '../context/request-context.ts';
import { BadRequestException } from '../errors/exceptions.ts';
import { tryAgain } from '../errors/try-again.ts';
import { hasBody, mediaType, methodsWithBody, readingOf } from '../http/bodies/request-body.ts';
import { clientAddress, probePath, readDeadline, type TrustProxy } from '../http/pipeline/request-context-of.ts';
import type { Gate } from '../http/pipeline/request-pipeline.ts';
import { onClose } from '../http/pipeline/request-pipeline.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { OverloadMetrics, ShedReason } from '../telemetry/metrics/overload-metrics.ts';
import { throttledLine } from '../telemetry/throttled-line.ts';
import type { Backlog } from './backlog.ts';
import { type ClientShares, type ClientStandings, refusedFrom } from './client-shares.ts';
import { type FairReading, mostTurnMs } from './fair-reading.ts';
import { WindowCounts } from './rate-limit.ts';
import { ReadyRefusal, type ReadyRefusalOptions } from './ready-refusal.ts';
import { ReceivedBytes } from './received-bytes.ts';
import type { LoopWait, StandingWait } from './standing-wait.ts';

/** What a request's client is counted under, as far as the proxies are trusted that name it. */
export function clientsBy(isTrusted: TrustProxy): (req: IncomingMessage) => string {
  return (req) => clientKey(clientAddress(req, isTrusted));
}

/** What a gate decides by, and tells of it. */
interface GateOptions extends ReadyRefusalOptions {
  /** How long admitted work waits. */
  waits: Pick<StandingWait, 'look' | 'targetMs' | 'clientMs' | 'currentMs' | 'standingMs' | 'overloaded'>;
  /** Where requests wait before they begin; by default they begin at once. */
  backlog?: Pick<Backlog, 'add' | 'delays' | 'overtake'> | undefined;
  /** What each client's work has cost, and how clients compare. */
  shares: Pick<ClientShares, 'charge'>;
  standings: Pick<ClientStandings, 'of'>;
  /** When the turn of the event loop began, and what keeps it short. */
  loop: Pick<LoopWait, 'beganAt'>;
  reading: Pick<FairReading, 'answered' | 'areShared' | 'follow' | 'hasProxies' | 'holdsBack' | 'spare' | 'unreadMs'>;
  /** Requests at work at once, at most; bounds the memory that they take. */
  maximum: number;
  /** What a request's client is counted under. */
  clientOf: (req: IncomingMessage) => string;
  /** Whether few connections are left and a client of a proxy has more than its share of them. Default: none has. */
  hasTooMany?: (client: string, socket: Socket) => boolean;
  logger: Pick<Logger, 'warn'>;
  metrics: Pick<OverloadMetrics, 'shed'>;
}

/** What the gate saw when it refused a request. */
interface GateFacts {
  currentMs: number;
  atWork: number;
}

/** What asks more often than this, in seconds and times for each client, asks for other reasons than a prober has. */
const probeSeconds = 10;
const mostProbes = 500;
/**
 * What a request costs its client beside what it asks for, in units of `chargeRequest`: to receive and answer it keeps the
 * process busy for a fifth of the time that a page of a list does, which costs 60.
 */
const receivingCost = 12;
/** The same for one that is refused: who sends thousands of them is to be seen as who keeps the process busy. */
const refusalCost = 6;
/** A request that has waited for so many times what it was let in for is refused in its turn. */
const excess = 1.5;

/**
 * Refuses with 503 what would wait too long: at once and before the app sees it, without a line in the log for each, because
 * what costs the least leaves the most time for what is admitted. In this order: what came after its `X-Request-Deadline`, with
 * 400, because it is the client that is late or whose clock is wrong; what cannot meet its deadline; at overload clients that
 * use more than their share, then all others, and last those that use little beside others; and in any case what is beyond
 * `maximum`, or of a client with too many of a proxy's connections. A request is at work once it has arrived in full, so slow
 * senders take no place.
 */
export class AdmissionGate {
  readonly #options: GateOptions;
  readonly #overloaded: ReadyRefusal;
  readonly #expired: ReadyRefusal;
  readonly #received: ReceivedBytes;
  readonly #probes = new WindowCounts(probeSeconds);
  #atWork = 0;
  #refused: Partial<Record<ShedReason, number>> = {};
  readonly #tell = throttledLine<GateFacts>((_times, { currentMs, atWork }) => {
    const facts = { refused: this.#refused, waitMs: Math.round(currentMs), atWork };
    this.#options.logger.warn(facts, 'requests refused: overloaded');
    this.#refused = {};
  });

  constructor(options: GateOptions) {
    this.#options = options;
    this.#received = new ReceivedBytes(options.shares);
    this.#overloaded = new ReadyRefusal(tryAgain('The service is overloaded; try again in a moment'), options);
    this.#expired = new ReadyRefusal(
      new BadRequestException('The request came after its X-Request-Deadline; `timestamp` is the time of the service'),
      options,
    );
  }

  /** Requests at work. */
  get atWork(): number {
    return this.#atWork;
  }

  /** Lets a request in, or answers it. */
  readonly admit: Gate = (req, res, begin) => {
    const { backlog, clientOf, hasTooMany, loop, reading, shares, waits } = this.#options;
    const now = performance.now();
    waits.look(now);
    const client = clientOf(req);
    const unreadMs = reading.holdsBack ? reading.unreadMs(req.socket) : 0;
    if (reading.hasProxies) {
      reading.follow(req.socket, client);
      if (reading.areShared) onClose(res, () => reading.answered(req.socket));
    }
    if (now - loop.beganAt > mostTurnMs) reading.spare(req.socket, loop.beganAt, now);
    const isExempt = isProbe(req) && this.#probes.consume(client, 1).used <= mostProbes;
    const crowds = !isExempt && reading.hasProxies && hasTooMany?.(client, req.socket) === true;
    const reason = crowds ? 'concurrency' : isExempt ? undefined : this.#reasonToRefuse(req, client, unreadMs, now);
    if (reading.hasProxies || hasBody(req)) this.#received.count(req.socket, client, now);
    shares.charge(client, reason === undefined ? receivingCost : refusalCost, now);
    if (reason !== undefined) return this.#refuse(res, reason);
    if (isExempt) return begin();
    if (isReadFirst(req)) req.once('end', () => this.#countReceived(res));
    else this.#count(res);
    if (!backlog) return begin();
    if (bringsMuch(req)) return backlog.overtake(begin);
    if (!backlog.delays(client, res)) return begin();
    const inTurn = (waitedMs: number) => this.#begin(client, res, begin, waitedMs);
    backlog.add({ client, res, begin: inTurn, refuse: this.#giveWay }, now);
  };

  readonly #giveWay = (res: ServerResponse) => this.#refuse(res, 'wait');

  #begin(client: string, res: ServerResponse, begin: () => void, waitedMs: number): void {
    const reason = this.#reasonAfter(client, res.req, waitedMs);
    if (reason === undefined) begin();
    else this.#refuse(res, reason);
  }

  /** @param unreadMs what it has waited for already, and others have not: the connections beside its own take turns to be read */
  #reasonToRefuse(req: IncomingMessage, client: string, unreadMs: number, now: number): ShedReason | undefined {
    const { maximum, standings, waits } = this.#options;
    const deadline = readDeadline(req.headers['x-request-deadline']);
    if (deadline !== undefined) {
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) return 'expired';
      if (leftMs <= waits.standingMs) return 'deadline';
    }
    if (this.#atWork >= maximum) return 'concurrency';
    const ownMs = waits.currentMs + unreadMs;
    const isLate = waits.overloaded || unreadMs > waits.targetMs;
    if (!isLate || ownMs <= waits.targetMs * refusedFrom.heavy) return undefined;
    const standing = standings.of(client, now);
    if (standing === 'heavy') return 'share';
    // What others have asked for takes turns with what a client asks for that is not heavy.
    const turnsMs = waits.clientMs(client, now);
    const waitMs = standing === 'light' ? turnsMs : Math.min(ownMs, turnsMs + unreadMs);
    return waitMs > waits.targetMs * refusedFrom[standing] ? 'wait' : undefined;
  }

  /** Why a request that was let in is refused after all, whose turn has come. */
  #reasonAfter(client: string, req: IncomingMessage, waitedMs: number): ShedReason | undefined {
    const { standings, waits } = this.#options;
    if ((readDeadline(req.headers['x-request-deadline']) ?? Number.POSITIVE_INFINITY) <= Date.now()) return 'deadline';
    if (!waits.overloaded || waitedMs <= waits.targetMs * refusedFrom.heavy) return undefined;
    const standing = standings.of(client, performance.now());
    return waitedMs > waits.targetMs * refusedFrom[standing] * excess ? 'wait' : undefined;
  }

  #refuse(res: ServerResponse, reason: ShedReason): void {
    this.#options.metrics.shed(reason);
    if (reason !== 'expired') {
      this.#refused[reason] = (this.#refused[reason] ?? 0) + 1;
      this.#tell({ currentMs: this.#options.waits.currentMs, atWork: this.#atWork });
    }
    (reason === 'expired' ? this.#expired : this.#overloaded).send(res);
  }

  #count(res: ServerResponse): void {
    this.#atWork += 1;
    onClose(res, this.#leave);
  }

  readonly #leave = () => {
    this.#atWork -= 1;
  };

  #countReceived(res: ServerResponse): void {
    // It may have been refused, or given up, while it came in.
    if (!res.writableEnded && !res.destroyed) this.#count(res);
  }
}

/** Probes, of which as many as probers send are always admitted: a busy service must not be restarted. */
function isProbe({ method, url = '' }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && probePath.test(url);
}

/** A longer body, or one of unknown length, is read at once, as far as there is room: unread it holds all that Node reads ahead. */
const mostWaitingBytes = 16_384;

function bringsMuch(req: IncomingMessage): boolean {
  return hasBody(req) && !(Number(req.headers['content-length']) <= mostWaitingBytes);
}

/** Whether the body is read before any route sees the request. Other bodies may never be read, and so never end. */
function isReadFirst(req: IncomingMessage): boolean {
  return hasBody(req) && (methodsWithBody.has(req.method ?? '') || readingOf(mediaType(req)) !== undefined);
}
