import type { Environment } from '../config/environment.ts';
import type { AnswerHeaders } from '../http/answers/answer-headers.ts';
import type { Gate } from '../http/pipeline/request-listener.ts';
import type { PoolCounts } from '../telemetry/metrics/database-metrics.ts';
import { showConcurrencyLimit } from '../telemetry/metrics/metrics.ts';
import { concurrencyGate } from './concurrency-gate.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { congestionOf } from './congestion.ts';

type Settings = Pick<
  Environment,
  | 'NODE_ENV'
  | 'HTTP_KEEP_ALIVE_TIMEOUT_MS'
  | 'OVERLOAD_ENABLED'
  | 'OVERLOAD_MIN_CONCURRENCY'
  | 'OVERLOAD_MAX_CONCURRENCY'
>;

/**
 * The gate of a service, which bounds what is worked on at once; undefined while it is switched off.
 *
 * @param pool the database's connections, asked while the service is busy
 * @param headers what every answer carries
 */
export function openAdmission(
  settings: Settings,
  pool: () => PoolCounts | undefined,
  headers: AnswerHeaders,
): Gate | undefined {
  if (!settings.OVERLOAD_ENABLED) return undefined;
  const limit = new ConcurrencyLimit({
    minimum: settings.OVERLOAD_MIN_CONCURRENCY,
    maximum: settings.OVERLOAD_MAX_CONCURRENCY,
    congested: congestionOf(pool),
  });
  showConcurrencyLimit(() => limit.limit);
  return concurrencyGate(limit, {
    production: settings.NODE_ENV === 'production',
    keepAliveMs: settings.HTTP_KEEP_ALIVE_TIMEOUT_MS,
    headers,
  });
}
