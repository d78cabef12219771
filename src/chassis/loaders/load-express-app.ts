import { type Express, type RequestHandler, Router } from 'express';
import type { ServerConfig } from '../config/app-config.ts';
import { type Environment, environment } from '../config/environment.ts';
import { isProbePath, probePaths } from '../context/probe-paths.ts';
import { compressResponses } from '../http/compress-responses.ts';
import { crossOrigin } from '../http/cross-origin.ts';
import { inOrder, onlyAt } from '../http/in-order.ts';
import { logRequests } from '../http/log-requests.ts';
import { nameRoute } from '../http/name-route.ts';
import { parseBodies } from '../http/parse-bodies.ts';
import { observeRequests } from '../http/request-observers.ts';
import { requestPipeline } from '../http/request-pipeline.ts';
import { requestSignal } from '../http/request-signal.ts';
import { addKnownRoute } from '../http/route-table.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { serveUploads } from '../http/serve-uploads.ts';
import { healthRoutes } from '../lifecycle/health.ts';
import { rateLimit } from '../overload/rate-limit.ts';
import { openRateLimits } from '../overload/rate-limit-store.ts';
import { timeOutRequests } from '../overload/time-out-requests.ts';
import { logger } from '../telemetry/logger.ts';
import { answerFailuresAtLast } from './answer-failures.ts';

const uploadsPath = /^\/uploads(?:\/|$)/;

/**
 * Configures the HTTP application: first the request context, then the steps in the order of spec.md (Loaders), each
 * switched by its flag, which defaults to true. What no route takes and what fails gets the one error body.
 */
export async function loadExpressApp(app: Express, config: ServerConfig): Promise<void> {
  const settings = environment();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', proxyTrust(settings.TRUST_PROXY));
  answerFailuresAtLast(app);
  await openRateLimits(settings);
  requestSignal(app);
  const steps: (RequestHandler | false)[] = [
    requestPipeline(),
    onlyAt(isProbePath, healthRoutes()),
    (config.enableCors ?? true) && crossOrigin({ origins: settings.CORS_ORIGINS }),
    (config.enableSecurityHeaders ?? true) && securityHeaders(),
    (config.enableCompression ?? true) && compressResponses(),
    settings.RATE_LIMIT_ENABLED && clientLimit(settings),
    parseBodies({ limitBytes: settings.BODY_LIMIT_BYTES }),
    onlyAt((path) => uploadsPath.test(path), uploads(settings.LOCAL_UPLOAD_DIR)),
  ];
  app.use(inOrder(steps.filter((step) => step !== false)));
  for (const path of probePaths) addKnownRoute(app, { method: 'GET', path });
  observeRequests(timeOutRequests(settings.REQUEST_TIMEOUT_MS, settings.NODE_ENV === 'production'));
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
