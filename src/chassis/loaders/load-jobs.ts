import { importFile } from '../config/layout.ts';
import { parseDatabaseUrl } from '../database/client/database-url.ts';
import type { EventDefinition } from '../events/define-events.ts';
import type { MakeOutboxJob } from '../events/events.ts';
import type { JobsFactory } from '../jobs/define-jobs.ts';
import type { FoundJob, JobPlan } from '../jobs/job-plan.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { StartUpError } from '../lifecycle/start-up-report.ts';
import type { Service } from '../service.ts';
import type { JobTracer } from '../telemetry/tracing/tracing.ts';
import { auditRetention } from './audit-retention.ts';
import { declaredEvents } from './declared-events.ts';
import { explainFailure } from './explain-failure.ts';
import { type ModuleFile, moduleFiles } from './module-files.ts';
import { openOutbox } from './open-outbox.ts';

/**
 * Loads the jobs and events of the enabled modules, and that of the chassis, and opens where they wait. A service without any
 * of them loads nothing of it.
 *
 * @param tracer gives runs their trace
 * @returns what begins to run them; nothing is run before
 * @throws StartUpError that lists every invalid declaration, or names a jobs file that fails
 */
export async function loadJobs(service: Service, tracer: JobTracer): Promise<() => void> {
  const files = moduleFiles('jobs', service);
  const own = auditRetention(service);
  const haveModules = files.length > 0 || moduleFiles('events', service).length > 0;
  if (!haveModules && own.length === 0) return () => undefined;
  const { planJobs } = await import('../jobs/job-plan.ts');
  const { events, problems: ofEvents } = await declaredEvents(service);
  const declared = await Promise.all(files.map((file) => declarationsOf(file, service)));
  const { plans, problems: ofJobs } = await planJobs([...declared.flat(), ...own], [...events.keys()]);
  const problems = [...ofEvents, ...ofJobs];
  const { database } = service;
  if (!database.isOpen) {
    problems.push(...plans.filter(({ replicas }) => replicas === 'one').map(needsDatabase));
    if (events.size > 0) problems.push('events are stored before anything hears of them, and DATABASE_URL is none');
  }
  if (problems.length > 0) {
    const list = problems.map((text) => `  ${text}`).join('\n');
    throw new StartUpError(`Invalid jobs or events:\n${list}`);
  }
  const ofEach = plans.filter(({ replicas }) => replicas === 'each');
  // Migrating makes the tables of jobs where a module has any.
  if (!database.isOpen || !haveModules) return runJobs(service, { plans: ofEach, tracer });
  if (!parseDatabaseUrl(service.settings.DATABASE_URL).writable) {
    service.logger.info('stored jobs disabled: the database is read-only on purpose');
    return runJobs(service, { plans: ofEach, tracer });
  }
  const outbox = events.size > 0 ? await openOutbox(service) : undefined;
  const all = outbox ? [...plans, outbox.plan] : plans;
  const store = await openStore(service, all);
  return runJobs(service, { plans: all, tracer, store, events, outbox: outbox?.makeJob });
}

function needsDatabase({ name, module, schedule }: JobPlan): string {
  const remedy = schedule ? "declare it with replicas: 'each', or set DATABASE_URL" : 'set DATABASE_URL';
  return `${module}: ${name} needs a database to wait in, and DATABASE_URL is none; ${remedy}`;
}

async function declarationsOf({ module, file, path }: ModuleFile, service: Service): Promise<FoundJob[]> {
  const from = `${module}/${file}`;
  try {
    const { default: factory } = await importFile(path);
    const found = factory === undefined ? 'none' : typeof factory;
    if (typeof factory !== 'function')
      throw new StartUpError(`expected its default export to be defineJobs(…), found ${found}`);
    const definitions = (factory as JobsFactory)(service.container.cradle);
    return definitions.map((definition) => ({ module, from, definition }));
  } catch (caught) {
    const cause = await explainFailure(caught, module, service);
    throw new StartUpError(`${from} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

async function openStore(service: Service, plans: readonly JobPlan[]): Promise<JobStore> {
  const store = await makeStore(service);
  try {
    await store.open(plans.filter(({ replicas }) => replicas === 'one'));
  } catch (cause) {
    const message = `Jobs cannot be opened: ${(cause as Error).message}. Migrating makes their tables: npm run db:migrate, or the command migrate.`;
    await store.close();
    throw new StartUpError(message, { cause });
  }
  service.closers.add('store of jobs', () => store.close());
  return store;
}

/** Loads the store of one database and not that of the other. */
async function makeStore({ database, settings, logger }: Service): Promise<JobStore> {
  const { client, connections: pool } = database;
  const leaseSeconds = settings.JOBS_LEASE_SECONDS;
  if (pool === undefined) {
    const { SqliteStore } = await import('../jobs/sqlite-store.ts');
    return new SqliteStore({ client, leaseSeconds });
  }
  const { PgBossStore } = await import('../jobs/pg-boss-store.ts');
  return new PgBossStore({ client, pool, databaseUrl: settings.DATABASE_URL, leaseSeconds, logger });
}

interface LoadedJobs {
  readonly plans: readonly JobPlan[];
  readonly tracer: JobTracer;
  /** Undefined in a service without a database, as is what needs it. */
  readonly store?: JobStore;
  readonly events?: ReadonlyMap<string, EventDefinition>;
  readonly outbox?: MakeOutboxJob | undefined;
}

async function runJobs(service: Service, { plans, tracer, ...stored }: LoadedJobs): Promise<() => void> {
  const { ServiceJobs } = await import('../jobs/service-jobs.ts');
  const { settings, logger, metrics, errors, stopping, closers } = service;
  const stop = new AbortController();
  let stoppedAt = 0;
  const shutDown = () => {
    if (stop.signal.aborted) return;
    stoppedAt = performance.now();
    stop.abort(new DOMException('The service shuts down', 'AbortError'));
  };
  stopping.addEventListener('abort', shutDown, { once: true });
  const witnesses = { logger, metrics: metrics.jobs, errors, tracer };
  const running = new ServiceJobs({ plans, store: stored.store, witnesses, settings, shutdown: stop.signal });
  openSenders(service, plans, { ...stored, wake: running.wake });
  const drain = async () => {
    shutDown();
    // Jobs end beside the requests, which are drained before this is called.
    const left = await running.drained(Math.max(0, settings.SHUTDOWN_DEADLINE_MS - (performance.now() - stoppedAt)));
    if (left > 0) logger.warn({ jobs: left }, 'jobs unfinished at shutdown');
  };
  closers.add('jobs', drain, settings.SHUTDOWN_DEADLINE_MS + 1000);
  service.startUpReport.step({ jobs: plans.map(({ name }) => name) }, 'jobs loaded');
  return () => running.start();
}

interface Sending extends Omit<LoadedJobs, 'plans' | 'tracer'> {
  wake(): void;
}

/** Has what modules send and emit reach the store. */
function openSenders(
  { container, database }: Service,
  plans: readonly JobPlan[],
  { store, events: declared = new Map(), outbox, wake }: Sending,
): void {
  if (!store) return;
  const sent = plans.filter(({ schedule, policy }) => schedule === undefined && policy === 'standard');
  container.cradle.jobs.open({ store, queues: sent.map(({ name }) => name), wake });
  const handlers = Map.groupBy(
    plans.filter(({ event }) => event !== undefined),
    ({ event }) => event as string,
  );
  const queues = new Map([...handlers].map(([event, handling]) => [event, handling.map(({ name }) => name)]));
  container.cradle.events.open({ declared, handlers: queues, client: database.client, store, outbox, wake });
}
