import type { Server } from 'node:http';
import { clientsBy } from './admission/admission.ts';
import { openAdmission } from './admission/open-admission.ts';
import { timeOutRequests } from './admission/time-out-requests.ts';
import type { Database } from './database/client/database.ts';
import { toDatabaseException } from './database/client/database-errors.ts';
import { parseDatabaseUrl } from './database/client/database-url.ts';
import { patientCheck } from './database/client/probe-database.ts';
import { migrationNames } from './database/migrations/migration-files.ts';
import { pendingMigrations } from './database/migrations/pending-migrations.ts';
import { answerHeadersOf, messagesOf } from './http/answers/answer-headers.ts';
import { mountErrorHandling } from './http/answers/mount-error-handling.ts';
import { addKnownRoute } from './http/answers/not-found.ts';
import { boundedRequest } from './http/bodies/request-body.ts';
import { trustsProxies } from './http/pipeline/proxy-trust.ts';
import type { TrustProxy } from './http/pipeline/request-context-of.ts';
import { requestListener } from './http/pipeline/request-pipeline.ts';
import { startInternalServer } from './internal/internal-server.ts';
import type { ConnectionPlaces } from './lifecycle/connection-limits.ts';
import { Drain } from './lifecycle/drain.ts';
import { createHttpServer, type ListenAddress, limitClients, listen, runListeners } from './lifecycle/listen.ts';
import { PipelinedRequests } from './lifecycle/pipelined-requests.ts';
import { serviceIndex } from './lifecycle/service-index.ts';
import { connectOrm } from './loaders/connect-orm.ts';
import { loadDI } from './loaders/load-di.ts';
import { loadExpressApp } from './loaders/load-express-app.ts';
import { loadJobs } from './loaders/load-jobs.ts';
import { loadOpenApi } from './loaders/load-open-api.ts';
import { loadRoutes } from './loaders/load-routes.ts';
import { sealRowRules } from './loaders/seal-row-rules.ts';
import { startModules } from './loaders/start-modules.ts';
import type { Service } from './service.ts';
import { startLogTransport } from './telemetry/log-transport.ts';
import type { DatabaseMetrics } from './telemetry/metrics/database-metrics.ts';
import { startTelemetry, type Telemetry } from './telemetry/start-telemetry.ts';

/** A service that serves. */
export interface Started {
  /** Where it listens. */
  addresses: ListenAddress[];
  /** Where probes, metrics and the log level are. */
  internalAddress: ListenAddress;
  drain: Drain;
}

interface Loader {
  name: string;
  load(service: Service): Promise<void>;
}

/** The start-up order (spec.md: Start-up order): each loader needs the ones before it. */
const loaders: readonly Loader[] = [
  { name: 'connectOrm', load: () => connectOrm() },
  { name: 'loadDI', load: ({ modules }) => loadDI(modules) },
  { name: 'loadExpressApp', load: ({ app, config }) => loadExpressApp(app, config.server) },
  { name: 'loadRoutes', load: ({ app, config }) => loadRoutes(app, config.modules) },
  { name: 'loadOpenApi', load: async ({ app, settings }) => (settings.ENABLE_OPENAPI ? loadOpenApi(app) : undefined) },
];

/** Opens a service: telemetry, the internal server, the loaders in their order, the modules, then the server. To be run in its scope. */
export async function startUp(service: Service): Promise<Started> {
  const { app, closers, health, logger, observers, settings, stopping } = service;
  service.startUpReport.misspelt(service.configuration.misspelt);
  const telemetry = await openTelemetry(service);
  observers.push(telemetry.observer, service.metrics.observer);
  const internal = await startInternalServer(service);
  closers.add('internal server', internal.close);
  for (const { name, load } of loaders) {
    stopping.throwIfAborted();
    const began = performance.now();
    await load(service);
    service.startUpReport.step({ loader: name, ms: Math.round(performance.now() - began) }, `${name} done`);
  }
  await sealRowRules(service);
  await service.checkFiles?.();
  await startModules(service);
  const runJobs = await loadJobs(service, telemetry.jobs);
  finishApp(service, telemetry);
  stopping.throwIfAborted();
  const { connections: metrics } = service.metrics;
  const { cut } = service;
  const turns = new PipelinedRequests(settings, cut);
  const messages = messagesOf(app, boundedRequest(cut));
  const refusal = { headers: answerHeadersOf(app), logger };
  const isTrusted: TrustProxy = app.get('trust proxy fn');
  const isProxy = (address: string) => isTrusted(address, 0);
  const admission = admissionOf(service, isTrusted, (client, socket) => places.hasTooMany(client, socket));
  const listener = requestListener(app, { logger, turns, admits: admission?.gate });
  const server = createHttpServer(listener, settings, refusal, { ...messages, turns, isProxy });
  const drain = new Drain(server);
  runListeners(server, (work) => service.run(work));
  const places = limitClients(server, settings, {
    logger,
    metrics,
    cut,
    memory: service.memory,
    isProxy,
    clientOf: clientsBy(isTrusted),
    isBarred: (client) => turns.isBarred(client),
  });
  admission?.watch(server, places.areFewLeft);
  closers.add('memory guard', service.memory.start());
  timeOutRequests(server, settings.REQUEST_TIMEOUT_MS, {
    inFlight: drain.inFlight,
    production: settings.NODE_ENV === 'production',
    metrics: service.metrics.overload,
    masks: service.masks,
    ...refusal,
  });
  const address = await listenInPublic(server, service);
  const close = () => drain.run(settings, admission?.settle);
  closers.add('HTTP server', close, Drain.longestMs(settings));
  stopping.throwIfAborted();
  health.enter('serving');
  runJobs();
  service.startUpReport.log({
    urls: [address.url],
    internalUrl: internal.address.url,
    telemetry: telemetry.describe(),
    settings: service.configuration.sources,
    summary: summaryOf(service, address.url, internal.address.url),
  });
  return { addresses: [address], internalAddress: internal.address, drain };
}

function listenInPublic(server: Server, { config, settings }: Service): Promise<ListenAddress> {
  return listen(
    server,
    { host: settings.HOST, port: config.server.port },
    {
      host: 'HOST',
      port: 'PORT',
      accepts: trustsProxies(settings.TRUST_PROXY) ? 'few' : 'many',
      isShared: settings.PORT_SHARED,
    },
  );
}

/** What the report of a start in development shows. */
function summaryOf({ config, database, settings }: Service, url: string, internalUrl: string) {
  const off = [
    ...(settings.ENABLE_OPENAPI ? [] : ['API page']),
    ...(database.isOpen ? [] : ['database']),
    ...(settings.OTEL_EXPORTER_OTLP_ENDPOINT || settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ? [] : ['tracing']),
    ...(settings.SENTRY_DSN ? [] : ['Sentry']),
    ...config.modules.filter(({ enabled }) => !enabled).map(({ name }) => `module ${name}`),
  ];
  return {
    ...(settings.ENABLE_OPENAPI && { apiPage: `${url}/api-docs` }),
    internal: `${internalUrl}/readyz, /metrics, /info`,
    ...(database.isOpen && {
      database: `${database.provider} at ${parseDatabaseUrl(settings.DATABASE_URL).description}`,
    }),
    ...(off.length > 0 && { off: off.join(', ') }),
  };
}

async function openTelemetry(service: Service): Promise<Telemetry> {
  const { LOG_TRANSPORT: transport, LOG_TRANSPORT_OPTIONS: options = {} } = service.settings;
  if (transport !== undefined)
    service.closers.add('log transport', await startLogTransport(service.logger, transport, options));
  const telemetry = await startTelemetry({
    settings: service.settings,
    variables: service.configuration.variables,
    logger: service.logger,
    metrics: service.metrics,
    isCurrent: service.isCurrent,
  });
  service.closers.add('telemetry', telemetry.close);
  service.errors.addReporters(telemetry.reporters);
  service.reportCrashesTo((error) => {
    telemetry.captureCrash(error);
    return telemetry.close();
  });
  return telemetry;
}

/** What comes after all routes, and what readiness asks. */
function finishApp(
  { app, database, health, logger, metrics, reporters, settings }: Service,
  telemetry: Telemetry,
): void {
  // Behind the modules, which may answer there themselves.
  app.get('/', serviceIndex(settings));
  addKnownRoute(app, { method: 'GET', path: '/' });
  mountErrorHandling(app, {
    logger,
    reporters: [metrics.reporter, ...telemetry.reporters, ...reporters],
    production: settings.NODE_ENV === 'production',
    converters: [toDatabaseException],
  });
  if (!database.isOpen) return;
  const isBusy = () => database.isBusy;
  health.add(
    'database',
    patientCheck(() => database.probe(), isBusy),
  );
  health.add('migrations', patientCheck(refusePendingMigrations(database, metrics.database), isBusy));
}

function admissionOf(service: Service, isTrusted: TrustProxy, hasTooMany: ConnectionPlaces['hasTooMany']) {
  const { app, bodies, database, logger, metrics, observers, settings, shares } = service;
  const admission = openAdmission(settings, {
    logger,
    metrics: metrics.overload,
    shares,
    database: database.requests,
    bodies,
    isTrusted,
    hasTooMany,
    headers: answerHeadersOf(app),
  });
  if (admission) observers.push(admission.observer);
  return admission;
}

/** The names are those known at start: what another version adds later is not this one's. */
function refusePendingMigrations(database: Database, metrics: DatabaseMetrics): () => Promise<void> {
  const names = migrationNames(database.provider);
  return async () => {
    const pending = await pendingMigrations(database, names);
    metrics.lacksMigrations(pending.length);
    if (pending.length > 0) throw new Error(`Migrations not applied: ${pending.join(', ')}; run npm run db:migrate.`);
  };
}
