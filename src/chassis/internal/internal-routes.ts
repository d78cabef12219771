import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { buildInfo } from '../config/build-info.ts';
import { environment, environmentSchema } from '../config/environment.ts';
import { currentDatabase } from '../database/client/orm.ts';
import { BadRequestException, PayloadTooLargeException } from '../errors/exceptions.ts';
import { parseBody } from '../http/bodies/parse-body.ts';
import { readiness } from '../lifecycle/health.ts';
import { logger, logLevel, setLogLevel } from '../telemetry/logger.ts';
import { metricsText } from '../telemetry/metrics/metrics.ts';

/** An answer with its whole body. */
export interface InternalAnswer {
  status: number;
  contentType: string;
  text: string;
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
export function internalRoutes(modules: readonly string[]): ReadonlyMap<string, InternalRoute> {
  const describe = serviceInfo(modules);
  return new Map<string, InternalRoute>([
    ['/livez', { get: () => json(200, { status: 'ok' }) }],
    ['/readyz', { get: answerReadiness }],
    ['/metrics', { get: answerMetrics }],
    ['/info', { get: () => json(200, describe()) }],
    ['/log-level', { get: () => json(200, { level: logLevel() }), put: changeLogLevel }],
  ]);
}

/** An answer with this body as JSON. */
export function json(status: number, body: object): InternalAnswer {
  return { status, contentType: 'application/json; charset=utf-8', text: JSON.stringify(body) };
}

async function answerReadiness(): Promise<InternalAnswer> {
  const { ready, checks } = await readiness();
  return json(ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', checks });
}

async function answerMetrics(req: IncomingMessage): Promise<InternalAnswer> {
  const { contentType, text } = await metricsText(req.headers.accept);
  return { status: 200, contentType, text };
}

/** What runs here since when; nothing of it is secret. */
function serviceInfo(modules: readonly string[]): () => object {
  const build = buildInfo();
  const started = new Date();
  return () => ({
    ...build,
    node: process.version,
    environment: environment().NODE_ENV,
    started: started.toISOString(),
    uptimeSeconds: Math.floor((Date.now() - started.getTime()) / 1000),
    modules,
    database: currentDatabase()?.provider ?? null,
  });
}

async function changeLogLevel(req: IncomingMessage): Promise<InternalAnswer> {
  const { level } = parseBody(logLevelBody, await readJson(req));
  const before = logLevel();
  setLogLevel(level);
  if (level !== before) logger().warn({ from: before, to: level }, 'log level changed');
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
