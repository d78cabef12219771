import { createServer } from 'node:http';
import express, { type Express } from 'express';
import type { AppConfig } from './config/app-config.ts';
import { environment, settingSources } from './config/environment.ts';
import { toDatabaseException } from './database/database-errors.ts';
import { pendingMigrations } from './database/migrations.ts';
import { closeOrm, probeOrm } from './database/orm.ts';
import { disposeContainer } from './di/container.ts';
import { logReporter } from './errors/reporters/log-reporter.ts';
import type { Reporter } from './errors/reporters/reporter.ts';
import { answerClientError } from './http/client-error.ts';
import { errorHandler } from './http/error-handler.ts';
import { notFound } from './http/not-found.ts';
import { requestListener } from './http/request-listener.ts';
import { Closers } from './lifecycle/closers.ts';
import { addHealthCheck, resetHealthChecks } from './lifecycle/health.ts';
import { closeServer, listen } from './lifecycle/listen.ts';
import { logStartUpReport, resetStartUpReport } from './lifecycle/start-up-report.ts';
import { connectOrm } from './loaders/connect-orm.ts';
import { loadDI } from './loaders/load-di.ts';
import { loadExpressApp } from './loaders/load-express-app.ts';
import { loadOpenApi } from './loaders/load-open-api.ts';
import { loadRoutes, routesOn } from './loaders/load-routes.ts';
import { createLogger, type Logger, logger, setLogger } from './telemetry/logger.ts';

/** A running service. */
export interface Service {
  app: Express;
  /** Where it listens. */
  addresses: { host: string; port: number; url: string }[];
  /** Stops accepting, lets requests in flight finish, and closes everything that was opened, last first. */
  close(): Promise<void>;
}

/** What a service may add to its start. */
export interface StartOptions {
  /** Receive every exception that answers a request, beside the log (spec.md: Handling, rule 4). */
  reporters?: readonly Reporter[];
  /** Takes the log lines. Default: JSON on stdout at LOG_LEVEL, pretty in development. */
  logger?: Logger;
}

interface Loader {
  name: string;
  load(app: Express, config: AppConfig): Promise<void>;
  close?(): Promise<void>;
}

/** The start-up order (spec.md: Start-up order): each loader needs the ones before it. */
const loaders: readonly Loader[] = [
  { name: 'connectOrm', load: () => connectOrm(), close: closeOrm },
  { name: 'loadDI', load: (_app, config) => loadDI(enabledNames(config)), close: disposeContainer },
  { name: 'loadExpressApp', load: (app, config) => loadExpressApp(app, config.server) },
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
  const closers = new Closers();
  try {
    const app = express();
    for (const loader of loaders) {
      const started = performance.now();
      if (loader.close) closers.add(loader.name, loader.close);
      await loader.load(app, config);
      logger().info({ loader: loader.name, ms: Math.round(performance.now() - started) }, `${loader.name} done`);
    }
    answerFailures(app, options.reporters ?? []);
    addHealthCheck('database', probeOrm);
    addHealthCheck('migrations', refusePendingMigrations);
    const server = createServer(requestListener(app)).on('clientError', answerClientError);
    const address = await listen(server, { host: settings.HOST, port: config.server.port });
    closers.add('HTTP server', () => closeServer(server));
    logStartUpReport(logger(), settingSources(), [address.url]);
    return { app, addresses: [address], close: () => closers.closeAll() };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** What no route answered, and what failed on the way. */
function answerFailures(app: Express, reporters: readonly Reporter[]): void {
  app.use(notFound(routesOn(app)));
  app.use(
    errorHandler({
      reporters: [logReporter(logger()), ...reporters],
      production: environment().NODE_ENV === 'production',
      converters: [toDatabaseException],
    }),
  );
}

async function refusePendingMigrations(): Promise<void> {
  const pending = await pendingMigrations(environment());
  if (pending.length > 0) throw new Error(`Migrations not applied: ${pending.join(', ')}; run npm run db:migrate.`);
}

function enabledNames(config: AppConfig): string[] {
  return config.modules.filter(({ enabled }) => enabled).map(({ name }) => name);
}
