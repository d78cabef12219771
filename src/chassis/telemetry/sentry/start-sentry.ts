import {
  contextLinesIntegration,
  type ErrorEvent,
  eventFiltersIntegration,
  functionToStringIntegration,
  getClient,
  init,
  linkedErrorsIntegration,
  type NodeClient,
  type NodeOptions,
  nodeContextIntegration,
  openTelemetryIntegration,
  requestDataIntegration,
} from '@sentry/node';
import { buildInfo } from '../../config/build-info.ts';
import type { Environment } from '../../config/environment.ts';
import { getRequestContext, runOutsideRequest } from '../../context/request-context.ts';
import { toException } from '../../errors/convert-error.ts';
import type { Monitor } from '../../errors/reporters/reporter.ts';
import { type Logger, masksOf } from '../logger.ts';
import { maskText } from '../redact.ts';
import { boundedTransport } from './bounded-transport.ts';
import { captureFault } from './capture-fault.ts';
import { parseOwnFrames } from './fault-fingerprint.ts';

/** The settings that Sentry is started with. */
export type SentrySettings = Pick<
  Environment,
  | 'SENTRY_DSN'
  | 'SENTRY_ENVIRONMENT'
  | 'SENTRY_RELEASE'
  | 'SENTRY_SAMPLE_RATE'
  | 'SENTRY_SEND_CLIENT_ADDRESS'
  | 'SOURCE_REVISION'
>;

/** Where events go, for the start-up report; the key of the DSN is not in it. */
export interface SentryDescription {
  destination: string;
  environment: string;
  release: string;
  sampleRate: number;
  sendsClientAddress: boolean;
}

/** Sentry, switched on. */
export interface SentryTelemetry {
  /** Takes exceptions of status 500 and above; behind `monitorReporter` it sees only those not operational. */
  readonly monitor: Monitor;
  /** Takes what ended the process. It is sent by `flush` or `close`, which must come before the exit. */
  captureCrash(error: unknown): void;
  describe(): SentryDescription;
  /** Waits until all events are sent, at most `ms` milliseconds; false when that was too short. Never rejects. */
  flush(ms: number): Promise<boolean>;
  /** The same, and takes no more events. */
  close(ms: number): Promise<boolean>;
}

/** Events that wait or are on their way at most; more are dropped, and counted in Sentry's own statistics. */
const bufferSize = 256;

/** The clients of services of this process that are not closed. */
const live = new WeakSet<object>();

/**
 * Switches Sentry on, beside whatever owns the tracer provider: it records no spans, patches no library, and an event
 * takes the ids of the active span. Importing this file loads @sentry/node, which costs 370 ms and 50 MB: import it
 * only with a SENTRY_DSN.
 *
 * What is sent: the exception with its causes and the lines of code around, the request's id, method, masked URL,
 * route, status and user agent, the user's id, `context` of the exception with secrets masked, and the host name.
 * Not sent: `details` of the exception, which may hold what a client typed, request bodies, cookies, all other headers,
 * and the client's address unless `SENTRY_SEND_CLIENT_ADDRESS` is true.
 *
 * Sentry has one client for a process: undefined, and a warning, where another service of this process has it.
 */
export async function startSentry(settings: SentrySettings, logger: Logger): Promise<SentryTelemetry | undefined> {
  const owner = getClient();
  if (owner && live.has(owner)) {
    logger.warn('faults not sent to Sentry: another service of this process does so; start only one with a SENTRY_DSN');
    return undefined;
  }
  const release = settings.SENTRY_RELEASE ?? releaseName(settings);
  const client = init(clientOptions(settings, release));
  if (client === undefined) throw new Error('Expected @sentry/node to start, and it did not: is this a worker thread?');
  live.add(client);
  const stopWatching = watchDeliveries(client, logger);
  const sendAddress = settings.SENTRY_SEND_CLIENT_ADDRESS;
  const masks = masksOf(logger);
  return {
    monitor: {
      capture(exception, context) {
        // A client's mistake is no fault of the service, whatever the exception says.
        if (exception.statusCode >= 500) captureFault(exception, context, { crash: false, sendAddress, masks });
      },
    },
    captureCrash(error) {
      const fault = error instanceof Error ? error : toException(error);
      captureFault(fault, getRequestContext(), { crash: true, sendAddress, masks });
    },
    describe: () => ({
      destination: settings.SENTRY_DSN?.replace(/\/\/.*@/, '//') ?? '',
      environment: settings.SENTRY_ENVIRONMENT,
      release,
      sampleRate: settings.SENTRY_SAMPLE_RATE,
      sendsClientAddress: sendAddress,
    }),
    flush: (ms) => within(ms, client.flush(ms)),
    async close(ms) {
      const sent = await within(ms, client.close(ms));
      stopWatching();
      live.delete(client);
      return sent;
    },
  };
}

/** In Sentry's form: `name@version`, with the revision where the build knows it. */
function releaseName(settings: SentrySettings): string {
  const { name, version, revision } = buildInfo(settings);
  return revision === 'unknown' ? `${name}@${version}` : `${name}@${version}+${revision}`;
}

/**
 * Of the default integrations only those that a service needs: the others cost 2.8 times the CPU of a small request,
 * send bodies and addresses, report before the error handler decides, or drop equal errors of different requests.
 */
function clientOptions(settings: SentrySettings, release: string): NodeOptions {
  return {
    dsn: settings.SENTRY_DSN,
    environment: settings.SENTRY_ENVIRONMENT,
    release,
    sampleRate: settings.SENTRY_SAMPLE_RATE,
    defaultIntegrations: false,
    integrations: [
      eventFiltersIntegration(),
      functionToStringIntegration(),
      linkedErrorsIntegration(),
      requestDataIntegration(),
      nodeContextIntegration(),
      contextLinesIntegration(),
      openTelemetryIntegration(),
    ],
    // Spans are OpenTelemetry's: nothing of Sentry listens to them or injects code into libraries.
    traceLifecycle: 'static',
    enableRuntimeChannelInjection: false,
    dataCollection: { userInfo: false, cookies: false, httpBodies: [], stackFrameVariables: false },
    maxValueLength: 2_048,
    stackParser: parseOwnFrames,
    transport: (options) => boundedTransport(options),
    transportOptions: { bufferSize },
    beforeSend: maskMessages,
  };
}

/**
 * Masks, in the messages of an event, the secrets that libraries put there: user and password of a connection string,
 * query parameters that bear a secret's name, and authorization values.
 */
function maskMessages(event: ErrorEvent): ErrorEvent {
  for (const exception of event.exception?.values ?? []) {
    if (exception.value !== undefined) exception.value = maskText(exception.value);
  }
  return event;
}

/** One line when events begin to be lost and one when they arrive again, however many there are between. */
function watchDeliveries(client: NodeClient, logger: Logger): () => void {
  let delivered = true;
  return client.on('afterSendEvent', (_event, { statusCode }) => {
    const arrived = statusCode !== undefined && statusCode < 300;
    if (arrived === delivered) return;
    delivered = arrived;
    // The request that happens to be under way has no part in it.
    runOutsideRequest(() => {
      if (arrived) logger.info('Sentry delivery recovered');
      else logger.warn({ status: statusCode ?? 'no answer' }, 'Sentry delivery failing; dropping events');
    });
  });
}

/** Sentry counts its time-out in timer ticks, twice over: this one ends on time. */
async function within(ms: number, done: PromiseLike<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([done, expired]);
  } finally {
    clearTimeout(timer);
  }
}
