import { type Express, type RequestHandler, Router } from 'express';
import { rateLimit } from '../admission/rate-limit.ts';
import type { ServerConfig } from '../config/app-config.ts';
import type { Environment } from '../config/environment.ts';
import { budgetIn, memoryLimit } from '../config/settings/memory-limit.ts';
import { currentService } from '../context/current-service.ts';
import { toDatabaseException } from '../database/client/database-errors.ts';
import { answerHeaders, answerPreflights, useAnswerHeaders } from '../http/answers/answer-headers.ts';
import { compressResponses } from '../http/answers/compress-responses.ts';
import { ensureErrorHandling } from '../http/answers/mount-error-handling.ts';
import { addKnownRoute } from '../http/answers/not-found.ts';
import { bodyParser } from '../http/bodies/body-parser.ts';
import { rawRouteOf } from '../http/bodies/raw-bodies.ts';
import { guardBody, readBodyFirst } from '../http/bodies/request-body.ts';
import { logRequests, requestLoggers } from '../http/pipeline/log-requests.ts';
import { composeMiddleware, onlyAt } from '../http/pipeline/middleware.ts';
import { trustProxies } from '../http/pipeline/proxy-trust.ts';
import { probePath, probePaths, requestSignal } from '../http/pipeline/request-context-of.ts';
import { nameRoute, requestPipeline } from '../http/pipeline/request-pipeline.ts';
import { healthRoutes } from '../lifecycle/health-routes.ts';
import type { Service } from '../service.ts';
import { serveStored } from '../uploads/serve-stored.ts';
import { serveUploads } from '../uploads/serve-uploads.ts';

const uploadsPath = /^\/uploads(?:\/|$)/;

/**
 * Configures the HTTP application: first the request context, then the steps in the order of spec.md (Loaders), each
 * switched by its flag, which defaults to true. What no route takes and what fails gets the one error body.
 */
export async function loadExpressApp(app: Express, config: ServerConfig): Promise<void> {
  const service = currentService();
  const { closers, health, logger, masks, observers, rateLimits, settings } = service;
  const production = settings.NODE_ENV === 'production';
  app.disable('x-powered-by');
  app.disable('etag');
  trustProxies(app, settings.TRUST_PROXY);
  ensureErrorHandling(app, { logger, production, converters: [toDatabaseException] });
  await rateLimits.open(settings);
  closers.add('loadExpressApp', () => rateLimits.close());
  requestSignal(app);
  guardBody(app);
  const headers = answerHeaders(settings, config);
  useAnswerHeaders(app, headers);
  const steps: (RequestHandler | false)[] = [
    requestPipeline({ service, observers, masks, headers }),
    onlyAt(probePath, healthRoutes(health)),
    (config.enableCors ?? true) && answerPreflights(settings.CORS_ORIGINS),
    (config.enableCompression ?? true) &&
      compressResponses({ budgetBytes: budgetIn(memoryLimit()), memory: service.memory }),
    settings.RATE_LIMIT_ENABLED && clientLimit(settings),
    bodyParser({
      limitBytes: settings.BODY_LIMIT_BYTES,
      budget: service.bodies,
      defer: true,
      isRaw: rawRouteOf(app),
    }),
    // It has no guards, and stands behind the parsing of bodies (spec.md: Loaders).
    onlyAt(uploadsPath, readBodyFirst(uploads(service))),
  ];
  app.use(composeMiddleware(steps.filter((step) => step !== false)));
  for (const path of probePaths) addKnownRoute(app, { method: 'GET', path });
  if (config.enableLogging ?? true) {
    requestLoggers(app, logger);
    observers.push(logRequests({ logger }));
  }
}

function uploads({ container, settings, filePlaces }: Service): Router {
  const { LOCAL_UPLOAD_DIR: directory, UPLOAD_S3_BUCKET: bucket } = settings;
  const serve = bucket === undefined ? serveUploads({ directory }) : serveStored(() => container.cradle.files);
  const enter: RequestHandler = (_req, res, next) => filePlaces.enter(res).then(() => next(), next);
  return Router().use('/uploads', nameRoute('/uploads/*'), enter, serve);
}

/** The limit of each client's requests, of whatever kind. */
function clientLimit({ RATE_LIMIT_REQUESTS: points, RATE_LIMIT_WINDOW_SECONDS: seconds }: Environment): RequestHandler {
  return rateLimit({ name: 'client', points, seconds });
}
