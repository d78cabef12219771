import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type IRoute, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { onTestFinished } from 'vitest';
import type { Environment } from '../../../../src/chassis/config/environment.ts';
import { errorHandler } from '../../../../src/chassis/http/answers/error-handler.ts';
import { rememberTemplate, requestPipeline } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';
import { startTelemetry, type Telemetry } from '../../../../src/chassis/telemetry/start-telemetry.ts';
import { telemetryOptions } from '../../../support/exporting-settings.ts';
import { memoryLog } from '../../http/bare-app.ts';

/** A listening app of one route, `/things/:id`, with the telemetry that the settings ask for; closed with the test. */
export async function tracedApp(
  settings: Environment,
  handler: RequestHandler,
  logger: Logger = memoryLog().logger,
  first: RequestHandler = (_req, _res, next) => next(),
): Promise<{ url: string; telemetry: Telemetry }> {
  const telemetry = await startTelemetry(telemetryOptions(settings, logger));
  const app = express().use(first, requestPipeline({ observers: [telemetry.observer] }));
  const route = app.route('/things/:id').all(handler);
  rememberTemplate(app, route as unknown as IRoute, '/api/things/:id');
  app.use(errorHandler({ logger, production: true, reporters: telemetry.reporters }));
  const server = createServer(app).listen(0, '127.0.0.1');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await telemetry.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, telemetry };
}

/** A server that answers with the headers it got. */
export async function headersEcho(): Promise<string> {
  const server = createServer((req, res) => res.end(JSON.stringify(req.headersDistinct))).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
