import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Environment } from '../config/environment.ts';
import type { RequestObserver } from '../context/request-observer.ts';
import type { AnswerHeaders } from '../http/answers/answer-headers.ts';
import type { BodyCount } from '../http/bodies/unread-body.ts';
import type { TrustProxy } from '../http/pipeline/request-context-of.ts';
import type { Gate } from '../http/pipeline/request-pipeline.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { OverloadMetrics } from '../telemetry/metrics/overload-metrics.ts';
import { AdmissionGate, clientsBy } from './admission.ts';
import { Backlog } from './backlog.ts';
import { chargeConnections } from './charged-connections.ts';
import { type ClientShares, ClientStandings, chargeClients } from './client-shares.ts';
import { FairReading } from './fair-reading.ts';
import { type DatabaseQueue, DatabaseWait, LoopWait, StandingWait } from './standing-wait.ts';

type Settings = Pick<
  Environment,
  | 'NODE_ENV'
  | 'HTTP_KEEP_ALIVE_TIMEOUT_MS'
  | 'OVERLOAD_ENABLED'
  | 'OVERLOAD_TARGET_MS'
  | 'OVERLOAD_MAX_CONCURRENCY'
  | 'REQUEST_TIMEOUT_MS'
>;

/** What the gate of a service watches, and tells what it does. */
interface Surroundings {
  logger: Logger;
  metrics: OverloadMetrics;
  /** What the requests of each client cost, as far as they are admitted here. */
  shares: ClientShares;
  /** The requests that wait for the database; undefined without one. */
  database: DatabaseQueue | undefined;
  /** What bodies hold. */
  bodies: BodyCount;
  /** The proxies that may name the address of a client. */
  isTrusted: TrustProxy;
  /** Whether few connections are left and a client of a proxy has more than its share of them. */
  hasTooMany: (client: string, socket: Socket) => boolean;
  /** What every answer carries. */
  headers: AnswerHeaders;
}

/** What refuses requests that would wait too long, and learns what those that it lets in cost. */
interface Admission {
  gate: Gate;
  observer: RequestObserver;
  /** Knows the connections of a server from now on, whose requests the gate admits, and whether it takes few further ones. */
  watch: (server: Server, areFewLeft: () => boolean) => void;
  /** To be called before that server closes: resolves once what has come to it was read, or cannot be soon. */
  settle: () => Promise<void>;
}

/** The admission of a service; undefined while it is switched off. */
export function openAdmission(
  settings: Settings,
  { logger, metrics, shares, database, bodies, isTrusted, hasTooMany, headers }: Surroundings,
): Admission | undefined {
  if (!settings.OVERLOAD_ENABLED) return undefined;
  // What waits for longer than this is answered 503 in any case.
  const targetMs = Math.min(settings.OVERLOAD_TARGET_MS, settings.REQUEST_TIMEOUT_MS);
  const databaseWait = database && new DatabaseWait(database);
  const backlog = databaseWait && new Backlog(database, databaseWait, bodies);
  const loop = new LoopWait();
  const reading = new FairReading();
  const standings = new ClientStandings(shares);
  database?.onUse(standings.had);
  const waits = new StandingWait([loop, ...(backlog ? [backlog, databaseWait] : [])], targetMs);
  metrics.watch({ waitMs: () => waits.asOf(performance.now()), waiting: () => backlog?.size ?? 0 });
  const { admit } = new AdmissionGate({
    waits,
    backlog,
    shares,
    standings,
    loop,
    reading,
    maximum: settings.OVERLOAD_MAX_CONCURRENCY,
    clientOf: clientsBy(isTrusted),
    hasTooMany,
    logger,
    metrics,
    production: settings.NODE_ENV === 'production',
    keepAliveMs: settings.HTTP_KEEP_ALIVE_TIMEOUT_MS,
    headers,
  });
  return {
    gate: admit,
    observer: chargeClients(shares, standings, database, targetMs, metrics),
    watch: (server, areFewLeft) => {
      reading.watch(server, isTrusted, areFewLeft);
      chargeConnections(server, shares, isTrusted);
    },
    settle: () => reading.settle(),
  };
}
