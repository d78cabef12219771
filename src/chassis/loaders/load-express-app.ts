import { type Express, type RequestHandler, Router } from 'express';
import { rateLimit } from '../admission/rate-limit.ts';
import { openRateLimits } from '../admission/rate-limit-store.ts';
import { timeOutRequests } from '../admission/time-out-requests.ts';
import type { ServerConfig } from '../config/app-config.ts';
import { type Environment, environment } from '../config/environment.ts';
import { isProbePath, probePaths } from '../context/probe-paths.ts';
import { toDatabaseException } from '../database/client/database-errors.ts';
import { answerHeaders, useAnswerHeaders } from '../http/answers/answer-headers.ts';
import { compressResponses } from '../http/answers/compress-responses.ts';
import { answerPreflights } from '../http/answers/cross-origin.ts';
import { ensureErrorHandling } from '../http/answers/error-handling.ts';
import { parseBodies } from '../http/bodies/read-bodies.ts';
import { composeMiddleware, onlyAt } from '../http/pipeline/compose-middleware.ts';
import { logRequests } from '../http/pipeline/log-requests.ts';
import { requestSignal } from '../http/pipeline/request-context-of.ts';
import { observeRequests } from '../http/pipeline/request-observers.ts';
import { requestPipeline } from '../http/pipeline/request-pipeline.ts';
import { addKnownRoute, nameRoute } from '../http/pipeline/route-table.ts';
import { healthRoutes } from '../lifecycle/health.ts';
import { logger } from '../telemetry/logger.ts';
import { serveUploads } from '../uploads/serve-uploads.ts';

const uploadsPath = /^\/uploads(?:\/|$)/;

/**
 * Configures the HTTP application: first the request context, then the steps in the order of spec.md (Loaders), each
 * switched by its flag, which defaults to true. What no route takes and what fails gets the one error body.
 */
export async function loadExpressApp(app: Express, config: ServerConfig): Promise<void> {
  const settings = environment();
  const production = settings.NODE_ENV === 'production';
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', proxyTrust(settings.TRUST_PROXY));
  ensureErrorHandling(app, { production, converters: [toDatabaseException] });
  await openRateLimits(settings);
  requestSignal(app);
  const headers = answerHeaders(settings, config);
  useAnswerHeaders(app, headers);
  const steps: (RequestHandler | false)[] = [
    requestPipeline(undefined, headers),
    onlyAt(isProbePath, healthRoutes()),
    (config.enableCors ?? true) && answerPreflights(settings.CORS_ORIGINS),
    (config.enableCompression ?? true) && compressResponses(),
    settings.RATE_LIMIT_ENABLED && clientLimit(settings),
    parseBodies({ limitBytes: settings.BODY_LIMIT_BYTES }),
    onlyAt((path) => uploadsPath.test(path), uploads(settings.LOCAL_UPLOAD_DIR)),
  ];
  app.use(composeMiddleware(steps.filter((step) => step !== false)));
  for (const path of probePaths) addKnownRoute(app, { method: 'GET', path });
  observeRequests(timeOutRequests(settings.REQUEST_TIMEOUT_MS, production));
  if (config.enableLogging ?? true) observeRequests(logRequests({ logger: logger() }));
}

function uploads(directory: string): Router {
  return Router().use('/uploads', nameRoute('/uploads/*'), serveUploads({ directory }));
}

/** The limit of each client's requests, of whatever kind. */
function clientLimit({ RATE_LIMIT_REQUESTS: points, RATE_LIMIT_WINDOW_SECONDS: seconds }: Environment): RequestHandler {
  return rateLimit({ name: 'client', points, seconds });
}

/** What Express takes: a number of hops, a list of addresses, or nobody. */
function proxyTrust(setting: string): false | number | string[] {
  if (setting === 'false') return false;
  return /^\d+$/.test(setting) ? Number(setting) : setting.split(',').map((address) => address.trim());
}
