import type { IncomingMessage } from 'node:http';
import type { Environment } from '../config/environment.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { RequestObserver } from '../context/request-observer.ts';
import type { AnswerHeaders } from '../http/answers/answer-headers.ts';
import { clientAddress, type TrustProxy } from '../http/pipeline/client-address.ts';
import { clientKey } from '../http/pipeline/client-key.ts';
import type { Gate } from '../http/pipeline/request-listener.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { OverloadMetrics } from '../telemetry/metrics/overload-metrics.ts';
import { AdmissionGate } from './admission-gate.ts';
import { ClientShares } from './client-shares.ts';
import { type DatabaseQueue, DatabaseWait } from './database-wait.ts';
import { LoopWait } from './loop-wait.ts';
import { StandingWait } from './standing-wait.ts';

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
export interface Surroundings {
  logger: Logger;
  metrics: OverloadMetrics;
  /** Who waits for the database, asked when a request comes; undefined without one. */
  database: () => DatabaseQueue | undefined;
  /** Who may tell the address of a client. */
  isTrusted: TrustProxy;
  /** What every answer carries. */
  headers: AnswerHeaders;
}

/** What refuses requests that would wait too long, and learns what those that it lets in cost. */
export interface Admission {
  gate: Gate;
  observer: RequestObserver;
}

/** The admission of a service; undefined while it is switched off. */
export function openAdmission(
  settings: Settings,
  { logger, metrics, database, isTrusted, headers }: Surroundings,
): Admission | undefined {
  if (!settings.OVERLOAD_ENABLED) return undefined;
  // What waits for longer than this is answered 503 in any case.
  const targetMs = Math.min(settings.OVERLOAD_TARGET_MS, settings.REQUEST_TIMEOUT_MS);
  const waits = new StandingWait([new LoopWait(), new DatabaseWait(database)], targetMs);
  metrics.watch(() => waits.asOf(performance.now()));
  const shares = new ClientShares();
  const { admit } = new AdmissionGate({
    waits,
    shares,
    maximum: settings.OVERLOAD_MAX_CONCURRENCY,
    clientOf: clientsBy(isTrusted),
    logger,
    metrics,
    production: settings.NODE_ENV === 'production',
    keepAliveMs: settings.HTTP_KEEP_ALIVE_TIMEOUT_MS,
    headers,
  });
  return { gate: admit, observer: chargeClients(shares) };
}

function clientsBy(isTrusted: TrustProxy): (req: IncomingMessage) => string {
  return (req) => clientKey(clientAddress(req, isTrusted));
}

/** Has each client's account pay for what its requests cost beside being received. */
function chargeClients(shares: ClientShares): RequestObserver {
  const charge = (cost: number, { ipAddress }: RequestContext) => {
    shares.charge(clientKey(ipAddress), cost, performance.now());
  };
  return { opened: (context) => context.onCharge?.(charge) };
}
