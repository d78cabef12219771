import express, { type Express } from 'express';
import { openAdmission } from './admission/admission.ts';
import { closeRateLimits } from './admission/rate-limit-store.ts';
import type { AppConfig } from './config/app-config.ts';
import { buildInfo } from './config/build-info.ts';
import { environment, settingSources } from './config/environment.ts';
import { toDatabaseException } from './database/client/database-errors.ts';
import { closeOrm, currentDatabase, databaseProvider, orm, probeOrm } from './database/client/orm.ts';
import { migrationNames } from './database/migrations/migration-files.ts';
import { pendingMigrations } from './database/migrations/pending-migrations.ts';
import { disposeContainer } from './di/container.ts';
import type { Reporter } from './errors/reporters/reporter.ts';
import { answerHeadersOf } from './http/answers/answer-headers.ts';
import { mountErrorHandling } from './http/answers/error-handling.ts';
import type { TrustProxy } from './http/pipeline/client-address.ts';
import { requestListener } from './http/pipeline/request-listener.ts';
import { observeRequests, resetRequestObservers } from './http/pipeline/request-observers.ts';
import { startInternalServer } from './internal/internal-server.ts';
import { Closers } from './lifecycle/closers.ts';
import { Drain } from './lifecycle/drain.ts';
import { addHealthCheck, enterPhase, resetHealthChecks } from './lifecycle/health.ts';
import { createHttpServer, listen } from './lifecycle/listen.ts';
import { reportCrashesTo } from './lifecycle/process-guards.ts';
import { closeService, type ShutdownReport } from './lifecycle/shutdown.ts';
import { logStartUpReport, resetStartUpReport } from './lifecycle/start-up-report.ts';
import { connectOrm } from './loaders/connect-orm.ts';
import { loadDI } from './loaders/load-di.ts';
import { loadExpressApp } from './loaders/load-express-app.ts';
import { loadOpenApi } from './loaders/load-open-api.ts';
import { loadRoutes } from './loaders/load-routes.ts';
import { createLogger, type Logger, logger, setLogger } from './telemetry/logger.ts';
import { type Metrics, startMetrics } from './telemetry/metrics/metrics.ts';
import { startTelemetry } from './telemetry/start-telemetry.ts';

/** A running service. */
export interface Service {
  app: Express;
  /** Where it listens. */
  addresses: { host: string; port: number; url: string }[];
  /** Where probes, metrics and the log level are. */
  internalAddress: { host: string; port: number; url: string };
  /** Stops accepting, lets requests in flight finish, and closes everything that was opened, last first; never rejects. */
  close(): Promise<ShutdownReport>;
}

/** What a service may add to its start. */
export interface StartOptions {
  /** Receive every exception that answers a request, beside the log (spec.md: Handling, rule 4). */
  reporters?: readonly Reporter[];
  /** Takes the log lines. Default: JSON on stdout at LOG_LEVEL, pretty in development. */
  logger?: Logger;
  /** Stops a start that is under way: what it opened is closed, and it raises the signal's reason. */
  stop?: AbortSignal;
}

interface Loader {
  name: string;
  load(app: Express, config: AppConfig, stop?: AbortSignal): Promise<void>;
  close?(): Promise<void>;
}

/** The start-up order (spec.md: Start-up order): each loader needs the ones before it. */
const loaders: readonly Loader[] = [
  { name: 'connectOrm', load: (_app, _config, stop) => connectOrm(stop), close: closeOrm },
  { name: 'loadDI', load: (_app, config) => loadDI(enabledNames(config)), close: disposeContainer },
  { name: 'loadExpressApp', load: (app, config) => loadExpressApp(app, config.server), close: closeRateLimits },
  { name: 'loadRoutes', load: (app, config) => loadRoutes(app, config.modules) },
  { name: 'loadOpenApi', load: (app) => (environment().ENABLE_OPENAPI ? loadOpenApi(app) : Promise.resolve()) },
];

/**
 * Starts a service: runs the loaders in order, then listens. What a half-done start opened is closed again.
 *
 * @throws ConfigurationError, StartUpError, or what a loader raised (spec.md: Handling, rule 6)
 */
export async function startService(config: AppConfig, options: StartOptions = {}): Promise<Service> {
  const settings = environment();
  const pretty = settings.NODE_ENV === 'development';
  setLogger(options.logger ?? createLogger({ level: settings.LOG_LEVEL, pretty }));
  resetStartUpReport();
  resetHealthChecks();
  const closers = new Closers(settings.SHUTDOWN_CLOSER_TIMEOUT_MS);
  try {
    resetRequestObservers();
    const telemetry = await startTelemetry(settings);
    closers.add('telemetry', telemetry.close);
    reportCrashesTo((error) => {
      telemetry.captureCrash(error);
      return telemetry.close();
    });
    observeRequests(telemetry.observer);
    const metrics = openMetrics();
    const internal = await startInternalServer({
      host: settings.INTERNAL_HOST,
      port: settings.INTERNAL_PORT,
      modules: enabledNames(config),
    });
    closers.add('internal server', internal.close);
    const app = express();
    for (const loader of loaders) {
      options.stop?.throwIfAborted();
      const started = performance.now();
      if (loader.close) closers.add(loader.name, loader.close);
      await loader.load(app, config, options.stop);
      logger().info({ loader: loader.name, ms: Math.round(performance.now() - started) }, `${loader.name} done`);
    }
    mountErrorHandling(app, {
      reporters: [metrics.reporter, ...telemetry.reporters, ...(options.reporters ?? [])],
      production: settings.NODE_ENV === 'production',
      converters: [toDatabaseException],
    });
    if (currentDatabase()) checkDatabase();
    options.stop?.throwIfAborted();
    const headers = answerHeadersOf(app);
    const admits = openAdmission(settings, {
      logger: logger(),
      metrics: metrics.overload,
      database: () => currentDatabase()?.requests,
      isTrusted: app.get('trust proxy fn') as TrustProxy,
      headers,
    });
    const server = createHttpServer(requestListener(app, admits), settings, headers);
    const drain = new Drain(server);
    const address = await listen(server, { host: settings.HOST, port: config.server.port });
    closers.add('HTTP server', () => drain.run(settings), Drain.longestMs(settings));
    enterPhase('serving');
    logStartUpReport(logger(), settingSources(), [address.url], {
      internalUrl: internal.address.url,
      telemetry: telemetry.describe(),
    });
    return { app, addresses: [address], internalAddress: internal.address, close: closeService(closers, drain) };
  } catch (error) {
    await closers.closeAll().catch((failure) => logger().error({ err: failure }, 'closing a failed start failed'));
    throw error;
  }
}

/** Begins all metrics at zero and has them see every request. */
function openMetrics(): Metrics {
  const metrics = startMetrics({
    seriesLimit: environment().METRICS_SERIES_LIMIT,
    build: buildInfo(),
    pool: () => currentDatabase()?.pool,
  });
  observeRequests(metrics.observer);
  return metrics;
}

/** A service is ready while its database answers and has what the migrations that it knows make. */
function checkDatabase(): void {
  addHealthCheck('database', probeOrm);
  addHealthCheck('migrations', refusePendingMigrations(migrationNames(databaseProvider())));
}

/** The names are those known at start: what another version adds later is not this one's. */
function refusePendingMigrations(names: readonly string[]): () => Promise<void> {
  return async () => {
    const lacking = await pendingMigrations({ client: orm() }, names);
    if (lacking.length > 0) throw new Error(`Migrations not applied: ${lacking.join(', ')}; run npm run db:migrate.`);
  };
}

function enabledNames(config: AppConfig): string[] {
  return config.modules.filter(({ enabled }) => enabled).map(({ name }) => name);
}
