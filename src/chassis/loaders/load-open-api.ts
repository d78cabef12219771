import { type Express, type RequestHandler, Router } from 'express';
import { z } from 'zod';
import type { Environment } from '../config/environment.ts';
import { databaseProgram, importFile } from '../config/layout.ts';
import { currentService, openServices } from '../context/current-service.ts';
import { withoutScopes } from '../context/run-as.ts';
import { addKnownRoute } from '../http/answers/not-found.ts';
import { onlyAt } from '../http/pipeline/middleware.ts';
import type { Json } from '../openapi/deep-merge.ts';
import type { ApiInfo } from '../openapi/describe-api.ts';
import type { OperationExample } from '../openapi/with-examples.ts';
import { routersOn } from './mounted-routers.ts';

const pagePaths = /^\/api-docs(?:\.json|\/|$)/;

/**
 * Sets up the OpenAPI description (spec.md: Loaders): the page at `/api-docs` and the document at `/api-docs.json`, made
 * once from the route files that are mounted. Runs last, so that it sees all routes. Routes that nobody documented and
 * documented paths that nobody mounts are logged as warnings. In production both are made when they are first asked for,
 * because they take a fifth of a start, and a tenth of what a process has in memory after it.
 *
 * @throws Error when an `@openapi` comment is no valid YAML, or two zod schemas share one id; in production each request
 * for the page is answered with that failure
 */
export async function loadOpenApi(app: Express): Promise<void> {
  const service = currentService();
  for (const path of ['/api-docs', '/api-docs.json']) addKnownRoute(app, { method: 'GET', path });
  // Those of a service that starts later may have the same ids.
  const known = new Map(z.globalRegistry._idmap);
  let made: Promise<Router> | undefined;
  const make = () => (made ??= service.run(() => makePages(app, known)));
  if (service.settings.NODE_ENV !== 'production') await make();
  const servePages: RequestHandler = async (request, response, next) => (await make())(request, response, next);
  app.use(onlyAt(pagePaths, servePages));
}

async function makePages(app: Express, known: ReadonlyMap<string, unknown>): Promise<Router> {
  // Both bring large dependencies, which a service without the page need not load.
  const [{ describeApi }, { introduction }, { apiPage }, { serveDocument }] = await Promise.all([
    import('../openapi/describe-api.ts'),
    import('../openapi/introduction.ts'),
    import('../openapi/api-page.ts'),
    import('../openapi/serve-document.ts'),
  ]);
  const { logger, settings, startUpReport } = currentService();
  const info = apiInfo(settings);
  const { document, problems } = describeApi(routersOn(app), info, {
    known,
    ofSeveralServices: openServices().length > 1,
  });
  for (const problem of problems) logger.warn({ loader: 'loadOpenApi' }, problem);
  const account = settings.NODE_ENV === 'development' ? startUpReport.notes.demoAccount : undefined;
  const description = [info.description, introduction(document, account)].filter(Boolean).join('\n\n');
  const described = { ...document, info: { ...(document['info'] as object), description } };
  const examples = account === undefined ? undefined : await readSampleExamples();
  return Router()
    .get('/api-docs.json', examples ? await serveWithExamples(described, examples) : serveDocument(described))
    .use(apiPage(info, './api-docs.json'));
}

/** What the settings say of the API as a whole. */
export function apiInfo(settings: Environment): ApiInfo {
  return {
    title: settings.OPENAPI_TITLE,
    version: settings.OPENAPI_VERSION,
    description: settings.OPENAPI_DESCRIPTION,
    serverUrl: settings.OPENAPI_SERVER_URL,
  };
}

type Examples = () => Promise<Record<string, OperationExample>>;

/** What the sample data offers for the operations; undefined where the service's seed has no examples. */
async function readSampleExamples(): Promise<Examples | undefined> {
  const { examples } = await importFile(databaseProgram('seed'));
  const { database } = currentService();
  return examples && (() => withoutScopes('sample data', () => examples(database.client)));
}

/** Made anew whenever the page is loaded, so that what it offers still exists, or does not exist yet. */
async function serveWithExamples(document: Json, examples: Examples): Promise<RequestHandler> {
  const [{ serveDocument }, { withExamples }] = await Promise.all([
    import('../openapi/serve-document.ts'),
    import('../openapi/with-examples.ts'),
  ]);
  return async (request, response, next) =>
    serveDocument(withExamples(document, await examples()))(request, response, next);
}
