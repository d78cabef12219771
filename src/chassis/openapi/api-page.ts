import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import swaggerUi, { type SwaggerUiOptions } from 'swagger-ui-express';
import { KeptAnswer } from '../http/answers/kept-answer.ts';
import { nameRoute } from '../http/pipeline/request-pipeline.ts';
import { apiPageStyle } from './api-page-style.ts';
import type { ApiInfo } from './describe-api.ts';

/** What the page needs of swagger-ui's own directory; the demo page that lies there as well is not served. */
const texts = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js'] as const;
const pictures = /^\/favicon-\d+x\d+\.png$/;
const maxAge = 'public, max-age=86400';

/**
 * The interactive page at `/api-docs` (spec.md: Other fixed endpoints). All its links are relative, so that it works
 * behind a proxy that adds a path prefix; its content security policy allows its own scripts and styles only.
 *
 * @param documentUrl where the document is, relative to the page
 */
export function apiPage({ title, serverUrl }: ApiInfo, documentUrl: string): Router {
  const options = {
    customSiteTitle: title.replace(/[&<>$]/g, (character) => `&#${character.charCodeAt(0)};`),
    customCss: apiPageStyle,
    swaggerUrl: documentUrl,
    // No badge, which would send the document's address to a validator on the internet, and no bar with a logo, which
    // would bring an inline style of its own.
    swaggerOptions: {
      validatorUrl: null,
      layout: 'BaseLayout',
      displayRequestDuration: true,
      // A token survives a reload, and the schemas below the operations stay closed until somebody opens them.
      persistAuthorization: true,
      defaultModelsExpandDepth: 0,
    },
  };
  const html = pageHtml(options);
  const page = withHeaders({
    'Content-Security-Policy': contentSecurityPolicy(html, serverUrl),
    'Cache-Control': 'no-cache',
  });
  const [initializer] = swaggerUi.serveFiles(undefined, options) as [RequestHandler];
  const setHeaders = (response: ServerResponse) => response.setHeader('Cache-Control', `${maxAge}, no-transform`);
  const [, files] = swaggerUi.serveWithOptions({ setHeaders }) as [RequestHandler, RequestHandler];
  const asset = assetsBy(files);
  const router = Router({ strict: true });
  router.get('/api-docs', page, (_request, response) => {
    response.type('html').send(html);
  });
  router.get('/api-docs/', (_request, response) => {
    // Express would read Accept to choose between a text and a page, for longer than an answer takes where that names thousands.
    response.status(308).set('Location', '../api-docs').end();
  });
  router.get('/api-docs/swagger-ui-init.js', page, initializer);
  router.use('/api-docs', nameRoute('/api-docs/*'), asset);
  return router;
}

/** Serves what the page loads: its texts from memory, and its pictures, which are small, as files. */
function assetsBy(files: RequestHandler): RequestHandler {
  const directory = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const kept = new Map(texts.map((name) => [`/${name}`, new KeptAnswer(() => readFile(join(directory, name)))]));
  return async (request, response, next) => {
    const { method, path } = request;
    const text = method === 'GET' || method === 'HEAD' ? kept.get(path) : undefined;
    if (text) {
      response.type(extname(path)).setHeader('Cache-Control', maxAge);
      return text.answer(request, response);
    }
    return pictures.test(path) ? files(request, response, next) : next();
  };
}

/** The page of swagger-ui-express; it stands at /api-docs without a slash, so what it loads lies below ./api-docs/. */
function pageHtml(options: SwaggerUiOptions): string {
  return swaggerUi
    .generateHTML(undefined, options)
    .replaceAll(/(href|src)="\.\//g, '$1="./api-docs/')
    .replace('style="position:absolute;width:0;height:0"', 'class="symbols"')
    .trimStart();
}

/**
 * Allows what the page is made of: its two inline styles by their hashes, images inside its style sheet as data, and
 * requests to the server that the document names.
 */
function contentSecurityPolicy(html: string, serverUrl: string): string {
  const styles = [...html.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(
    ([, style = '']) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${styles.join(' ')}`,
    "img-src 'self' data:",
    `connect-src 'self'${/^https?:/.test(serverUrl) ? ` ${new URL(serverUrl).origin}` : ''}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function withHeaders(headers: Record<string, string>): RequestHandler {
  return (_request, response, next) => {
    response.set(headers);
    next();
  };
}
