import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { buildInfo } from '../config/build-info.ts';
import { type Configuration, type Environment, environmentSchema } from '../config/environment.ts';
import type { Database } from '../database/client/database.ts';
import { BadRequestException, PayloadTooLargeException } from '../errors/exceptions.ts';
import { parseBody } from '../http/bodies/parse-body.ts';
import type { Health } from '../lifecycle/health.ts';
import { shownSettings } from '../lifecycle/start-up-report.ts';
import { type Logger, setLogLevel } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics/metrics.ts';
import { authorizeOperator } from './authorize-operator.ts';
import { Diagnostics, type InternalAnswer } from './diagnostics.ts';

/** What the internal server reports. */
export interface Operated {
  readonly settings: Environment;
  readonly configuration: Pick<Configuration, 'sources'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly database: Database;
  /** Names of the enabled modules. */
  readonly modules: readonly string[];
}

type Handler = (req: IncomingMessage) => InternalAnswer | Promise<InternalAnswer>;

/** What a path of the internal server answers, by method. */
export interface InternalRoute {
  get: Handler;
  put?: Handler;
}

const maximumBodyLength = 1_000;
const logLevelBody = z.object({ level: environmentSchema.shape.LOG_LEVEL.unwrap() });

/** The paths of the internal server. */
export function internalRoutes(service: Operated): ReadonlyMap<string, InternalRoute> {
  const { settings, logger, metrics, health } = service;
  const describe = serviceInfo(service);
  const diagnostics = new Diagnostics(service);
  return new Map<string, InternalRoute>([
    ['/livez', { get: () => json(200, { status: 'ok' }) }],
    ['/readyz', { get: () => answerReadiness(health) }],
    ['/metrics', { get: (req) => answerMetrics(metrics, req) }],
    ['/info', { get: () => json(200, describe()) }],
    [
      '/config',
      {
        get: (req) => {
          authorizeOperator(req, settings.INTERNAL_TOKEN);
          return json(200, describeSettings(service));
        },
      },
    ],
    ['/profile/cpu', { get: (req) => diagnostics.cpuProfile(req) }],
    ['/profile/heap', { get: (req) => diagnostics.heapSnapshot(req) }],
    [
      '/log-level',
      {
        get: () => json(200, { level: logger.level }),
        put: (req) => {
          authorizeOperator(req, settings.INTERNAL_TOKEN);
          return changeLogLevel(logger, req);
        },
      },
    ],
  ]);
}

/** An answer with this body as JSON. */
export function json(status: number, body: object): InternalAnswer {
  return { status, contentType: 'application/json; charset=utf-8', text: JSON.stringify(body) };
}

async function answerReadiness(health: Health): Promise<InternalAnswer> {
  const { ready, checks } = await health.readiness();
  return json(ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', checks });
}

async function answerMetrics(metrics: Metrics, req: IncomingMessage): Promise<InternalAnswer> {
  const { contentType, bytes } = await metrics.text(req.headers.accept);
  return { status: 200, contentType, text: bytes };
}

/** What runs here since when; nothing of it is secret. */
function serviceInfo({ settings, modules, database }: Operated): () => object {
  const build = buildInfo(settings);
  const started = new Date();
  return () => ({
    ...build,
    node: process.version,
    environment: settings.NODE_ENV,
    started: started.toISOString(),
    uptimeSeconds: Math.floor((Date.now() - started.getTime()) / 1000),
    modules,
    database: database.isOpen ? database.provider : null,
  });
}

/** Each setting, as it holds now, and where it came from. */
function describeSettings({ configuration, logger }: Operated): object {
  const settings = shownSettings(configuration.sources);
  return { settings: { ...settings, LOG_LEVEL: { ...settings['LOG_LEVEL'], value: logger.level } } };
}

async function changeLogLevel(logger: Logger, req: IncomingMessage): Promise<InternalAnswer> {
  const { level } = parseBody(logLevelBody, await readJson(req));
  const before = logger.level;
  setLogLevel(logger, level);
  if (level !== before) logger.warn({ from: before, to: level }, 'log level changed');
  return json(200, { level });
}

async function readJson(req: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of req.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.length > maximumBodyLength) {
      throw new PayloadTooLargeException(`Expected a body of at most ${maximumBodyLength} characters`);
    }
  }
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new BadRequestException('Expected a JSON body such as {"level":"debug"}', undefined, { cause });
  }
}
