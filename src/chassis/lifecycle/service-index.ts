import type { RequestHandler } from 'express';
import type { Environment } from '../config/environment.ts';
import { sendData } from '../http/answers/responses.ts';

type IndexSettings = Pick<
  Environment,
  'ENABLE_OPENAPI' | 'OPENAPI_DESCRIPTION' | 'OPENAPI_SERVER_URL' | 'OPENAPI_TITLE' | 'OPENAPI_VERSION'
>;

/**
 * Answers `GET /` with what this service is: its name, version and description, as the API page has them, and where that
 * page and the probes are. Made once.
 */
export function serviceIndex(settings: IndexSettings): RequestHandler {
  const base = settings.OPENAPI_SERVER_URL.replace(/\/$/, '');
  const index = {
    name: settings.OPENAPI_TITLE,
    version: settings.OPENAPI_VERSION,
    description: settings.OPENAPI_DESCRIPTION,
    links: {
      ...(settings.ENABLE_OPENAPI && { apiPage: `${base}/api-docs`, openApi: `${base}/api-docs.json` }),
      liveness: `${base}/livez`,
      readiness: `${base}/readyz`,
    },
  };
  return function answerIndex(request, response, next) {
    // To Express `//` is the same route.
    if (request.path === '/') sendData(response, 200, index);
    else next();
  };
}
