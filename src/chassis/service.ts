import { existsSync } from 'node:fs';
import express, { type Express } from 'express';
import { ClientShares } from './admission/client-shares.ts';
import { RateLimitStore } from './admission/rate-limit-store.ts';
import type { AppConfig } from './config/app-config.ts';
import { buildInfo } from './config/build-info.ts';
import { Configuration, type Environment, type Variables } from './config/environment.ts';
import { defaultModulesDirectory } from './config/layout.ts';
import {
  budgetIn,
  filesIn,
  formsIn,
  memoryLimit,
  readBytesIn,
  recordRoomIn,
  rowStreamsIn,
} from './config/settings/memory-limit.ts';
import { findService, runInService, serviceClosed, serviceOpened } from './context/current-service.ts';
import type { RequestObserver } from './context/request-observer.ts';
import { Database } from './database/client/database.ts';
import { type Container, createContainer } from './di/container.ts';
import { ErrorReports, faultOf } from './errors/reporters/error-reports.ts';
import { logReporter } from './errors/reporters/log-reporter.ts';
import type { Reporter } from './errors/reporters/reporter.ts';
import { RecordRoom } from './http/answers/record-room.ts';
import { BodyBudget } from './http/bodies/body-budget.ts';
import { StreamShares } from './http/streams/stream-shares.ts';
import { Closers } from './lifecycle/closers.ts';
import { type CutConnection, connectionCutter } from './lifecycle/cut-connections.ts';
import { Health } from './lifecycle/health.ts';
import { MemoryGuard } from './lifecycle/memory-guard.ts';
import type { ShutdownReport } from './lifecycle/shutdown.ts';
import { StartStoppedError, StartUpError, StartUpReport } from './lifecycle/start-up-report.ts';
import { ServicePolicies } from './query/policy/service-policies.ts';
import { type Started, startUp } from './start.ts';
import { createLogger, type Logger, masksOf } from './telemetry/logger.ts';
import { Metrics } from './telemetry/metrics/metrics.ts';
import type { LogMasks } from './telemetry/redact.ts';
import { ComingForms } from './uploads/coming-forms.ts';
import { FilePlaces } from './uploads/files/file-places.ts';

/** What a service is made with, beside its configuration. */
export interface ServiceOptions {
  /** The variables that its settings are read from, such as `process.env`; a plain record, which is not changed. */
  env: Variables;
  /** One of `createLogger`, which masks secrets. Default: JSON on standard output at LOG_LEVEL, readable in development. */
  logger?: Logger | undefined;
  /** Receive every exception that answers a request, and what ends the process, beside the log (spec.md: Handling, rule 4). Default: none. */
  reporters?: readonly Reporter[] | undefined;
  /** Absolute path of the directory that holds one directory per module. Default: `modules` beside the chassis. */
  modulesDirectory?: string | undefined;
}

/** Tells a monitor of the error that ends the process; resolves once the monitor has it. */
type CrashReporter = (error: unknown) => Promise<unknown>;

/**
 * Makes a service: reads and checks its settings, and opens nothing. Several services run in one process side by side;
 * each owns its settings, logger, metrics, database and modules.
 *
 * @throws ConfigurationError with all problems of the settings, StartUpError when `modulesDirectory` is not there,
 * TypeError when `logger` is none of `createLogger`
 */
export function createService(config: AppConfig, options: ServiceOptions): Service {
  return new Service(config, options);
}

/** Of all connections, what streams of events may have, so that some are left for requests. */
const shareOfEvents = 0.5;

/** A service and everything that belongs to it. */
export class Service {
  readonly config: AppConfig;
  readonly configuration: Configuration;
  readonly modulesDirectory: string;
  readonly reporters: readonly Reporter[];
  readonly logger: Logger;
  /** What its log lines mask beside what all do. */
  readonly masks: LogMasks;
  readonly metrics: Metrics;
  /** What code reports that answers no request. */
  readonly errors: ErrorReports;
  readonly database: Database;
  readonly container: Container = createContainer();
  readonly rateLimits: RateLimitStore;
  /** Keeps the process below its memory limit. */
  readonly memory: MemoryGuard;
  /** The streams of rows and of events under way. */
  readonly streams: StreamShares;
  /** What the requests of each client cost. */
  readonly shares = new ClientShares();
  /** Room for the records of answers that are being made. */
  readonly recordRoom: RecordRoom;
  /** What bodies hold that come in, and those of requests that wait before they begin. */
  readonly bodies: BodyBudget;
  /** The forms with files that come in. */
  readonly forms = new ComingForms(formsIn(memoryLimit()));
  /** Cuts connections of the public port. */
  readonly cut: CutConnection;
  /** Places for the files that are sent. */
  readonly filePlaces: FilePlaces;
  /** See every request; one that is added later sees those that come after. */
  readonly observers: RequestObserver[] = [];
  readonly startUpReport: StartUpReport;
  readonly health: Health;
  /** Closes everything that was opened, last opened first; code that opens something adds its closer here. */
  readonly closers: Closers;
  readonly app: Express = express();
  /** Its list policies, once its routes are loaded. */
  policies = new ServicePolicies();
  /** Asks the store of files whether it takes what the settings say, once it is opened; undefined where it is a directory. */
  checkFiles: (() => Promise<void>) | undefined;
  readonly #stop = new AbortController();
  #reportCrash: CrashReporter | undefined;
  #starting: Promise<Started> | undefined;
  #closing: Promise<ShutdownReport> | undefined;

  /** Use `createService`. */
  constructor(config: AppConfig, { env, logger, reporters = [], modulesDirectory }: ServiceOptions) {
    this.config = config;
    this.configuration = new Configuration(env, config.moduleSettings);
    this.modulesDirectory = modulesDirectory ?? defaultModulesDirectory;
    if (modulesDirectory !== undefined && !existsSync(modulesDirectory)) {
      const found = `Expected a directory of modules, found nothing at ${modulesDirectory}`;
      throw new StartUpError(`${found}; create it or correct modulesDirectory.`);
    }
    this.reporters = reporters;
    const { settings } = this.configuration;
    const { LOG_LEVEL: level, LOG_FORMAT: format } = settings;
    const forPeople = format === 'pretty';
    this.logger = logger ?? createLogger(forPeople ? { level, pretty: true } : { level, format });
    this.startUpReport = new StartUpReport(this.logger, { forPeople });
    this.masks = masksOf(this.logger);
    this.metrics = new Metrics({
      seriesLimit: settings.METRICS_SERIES_LIMIT,
      build: buildInfo(settings),
      pool: () => this.database.pool,
      replica: () => this.database.replica,
      log: this.logger,
    });
    this.errors = new ErrorReports(this.logger, [logReporter(this.logger), this.metrics.errorReporter, ...reporters]);
    this.memory = new MemoryGuard({ limitBytes: memoryLimit(), logger: this.logger });
    const events = Math.ceil(settings.HTTP_MAX_CONNECTIONS * shareOfEvents);
    this.streams = new StreamShares({ rows: rowStreamsIn(memoryLimit()), events }, this.memory);
    this.cut = connectionCutter({ logger: this.logger, metrics: this.metrics.connections });
    this.filePlaces = new FilePlaces(filesIn(memoryLimit()), this.cut);
    this.bodies = new BodyBudget(Math.max(settings.BODY_LIMIT_BYTES, budgetIn(memoryLimit())));
    const reads = { mostBytes: readBytesIn(memoryLimit()), hasRoom: () => this.memory.hasRoom() };
    this.database = new Database(this.metrics.database, this.logger, reads);
    this.recordRoom = new RecordRoom(recordRoomIn(memoryLimit()), this.metrics.overload, this.database);
    this.rateLimits = new RateLimitStore({ logger: this.logger, metrics: this.metrics.overload });
    this.health = new Health({ logger: this.logger, failures: () => this.startUpReport.failures });
    this.closers = new Closers(settings.SHUTDOWN_CLOSER_TIMEOUT_MS);
  }

  /** Its settings, those of its modules among them. */
  get settings(): Environment {
    return this.configuration.settings;
  }

  /** Names of its enabled modules. */
  get modules(): string[] {
    return this.config.modules.filter(({ enabled }) => enabled).map(({ name }) => name);
  }

  /** Aborted when it is closed while it starts. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether the caller runs in one of its requests, timers or the like, or it is the process's only service. */
  readonly isCurrent = (): boolean => findService() === this;

  /** Runs `work`, and everything that it begins, as part of this service: the functions of the door then mean this one. */
  run<T>(work: () => T): T {
    return runInService(this, work);
  }

  /**
   * Runs the loaders in order, then listens (spec.md: Start-up order). A service starts once. What a failed start opened
   * is closed again; other services of the process are as they were.
   *
   * @throws StartUpError, StartStoppedError when it was closed meanwhile, or what a loader raised (spec.md: Handling, rule 6)
   */
  async start(): Promise<Pick<Started, 'addresses' | 'internalAddress'>> {
    if (this.#starting || this.#closing) {
      const found = this.#closing !== undefined ? 'closed' : 'started';
      throw new StartUpError(`Expected a new service, found one that was ${found}; make another with createService().`);
    }
    this.#starting = this.run(() => this.#start());
    const { addresses, internalAddress } = await this.#starting;
    return { addresses, internalAddress };
  }

  /**
   * Stops accepting, lets requests in flight finish, and closes everything that was opened, last first. During a start it
   * stops the start. Never rejects, and closes once, however often it is called.
   */
  close(): Promise<ShutdownReport> {
    this.#closing ??= this.run(() => this.#close());
    return this.#closing;
  }

  /** Has `report` told of an error that ends the process. */
  reportCrashesTo(report: CrashReporter): void {
    this.#reportCrash = report;
  }

  /** Tells the reporters and the monitor of an error that ends the process. @throws what the first of them failed with, once all are done */
  async reportCrash(error: unknown): Promise<void> {
    const fault = faultOf(error, {});
    const told = this.reporters.map(async (reporter) => reporter.report(fault, undefined));
    const outcomes = await Promise.allSettled([...told, this.#reportCrash?.(error)]);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #start(): Promise<Started> {
    serviceOpened(this);
    try {
      return await startUp(this);
    } catch (error) {
      await this.closers
        .closeAll()
        .catch((failure: unknown) => this.logger.error({ err: failure }, 'cleanup after failed start failed'));
      serviceClosed(this);
      throw error;
    }
  }

  async #close(): Promise<ShutdownReport> {
    this.health.enter('shutting down');
    this.#stop.abort(new StartStoppedError('The start was stopped, because the service was closed.'));
    let report = { finished: 0, cut: 0 };
    try {
      const started = await this.#stoppedStart();
      try {
        await this.closers.closeAll();
      } finally {
        if (started) report = started.drain.report();
      }
      return report;
    } catch (failure) {
      return { ...report, failure: failure as Error };
    } finally {
      serviceClosed(this);
    }
  }

  /** What a start has opened once it is done; undefined where it failed or there was none. */
  async #stoppedStart(): Promise<Started | undefined> {
    const limitMs = this.settings.SHUTDOWN_DEADLINE_MS;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const error = new StartUpError(`The start did not stop within ${limitMs} ms of the end of the service.`);
    const timer = setTimeout(() => reject(error), limitMs);
    try {
      return await Promise.race([this.#starting?.catch(() => undefined), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
