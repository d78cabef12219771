import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, Request } from 'express';
import { pinoHttp } from 'pino-http';
import type { RequestContext } from '../../context/request-context.ts';
import type { RequestObserver, RequestOutcome } from '../../context/request-observer.ts';
import type { RequestLine } from '../../errors/reporters/log-reporter.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { requestContextOf } from './request-context-of.ts';

const metricsPath = /^\/metrics\/?(?:\?|$)/;

/** Where the lines go. */
interface LogRequestsOptions {
  logger: Logger;
}

/**
 * Writes one line for each request when it is over (spec.md: Loaders, HTTP configuration), wherever it was answered: id,
 * method, url, route template, status, duration in milliseconds, bytes of the body where its length was declared, trace
 * and user. The line of a refused request is a warning, whose message says why. Headers and bodies are never logged. Health
 * and metrics are logged only when they fail.
 */
export function logRequests({ logger }: LogRequestsOptions): RequestObserver {
  const middleware = pinoHttp<IncomingMessage, ServerResponse>({
    logger,
    wrapSerializers: false,
    customLogLevel: levelOf,
    customSuccessObject: describe,
    customErrorObject: describe,
    customSuccessMessage: outcomeOf,
    customErrorMessage: outcomeOf,
  });
  // pino-http makes a logger for each request, which holds it; that of an author is made when it is asked for.
  const { child } = middleware.logger;
  middleware.logger.child = function childOf(this: Logger, bindings: object, options?: object) {
    return 'req' in bindings ? this : Reflect.apply(child, this, [bindings, options]);
  } as unknown as typeof child;
  return {
    opened(context: LoggedContext) {
      context.line = { log: logger, written: false };
    },
    closed(context, _req, res, outcome) {
      const ended = new EndedRequest(context, res, outcome);
      middleware(ended as unknown as IncomingMessage, ended as unknown as ServerResponse);
      ended.finish();
    },
  };
}

type LoggedContext = RequestContext & { line?: RequestLine };

/**
 * A request that is over, as the request and response that pino-http takes: to real ones it adds listeners, loggers and
 * lists of them, while the pipeline knows the end already.
 */
class EndedRequest {
  readonly statusCode: number;
  readonly #context: LoggedContext;
  readonly #res: ServerResponse;
  readonly #outcome: RequestOutcome;
  #complete: (() => void) | undefined;

  constructor(context: LoggedContext, res: ServerResponse, outcome: RequestOutcome) {
    this.statusCode = outcome.status;
    this.#context = context;
    this.#res = res;
    this.#outcome = outcome;
  }

  on(event: string, listener: () => void): this {
    if (event === 'finish') this.#complete = listener;
    return this;
  }

  removeListener(): this {
    return this;
  }

  finish(): void {
    this.#complete?.();
  }

  get level(): 'silent' | 'info' | 'warn' {
    const { isProbe, line, url } = this.#context;
    if (line?.refusal) return 'warn';
    // Asked for every few seconds, and of interest only when it fails.
    const isQuiet = this.statusCode < 400 && (isProbe === true || metricsPath.test(url.toLowerCase()));
    return isQuiet ? 'silent' : 'info';
  }

  describe(): object {
    const { requestId, traceId, spanId, method, url, startTime, userId, line } = this.#context;
    const { route, status } = this.#outcome;
    const length = this.#res.getHeader('content-length');
    if (line) line.written = true;
    return {
      ...line?.refusal?.fields,
      requestId,
      traceId,
      spanId,
      method,
      url,
      route,
      status,
      durationMs: Date.now() - startTime.getTime(),
      bytes: length === undefined ? undefined : Number(length),
      userId,
    };
  }

  get message(): string {
    return this.#context.line?.refusal?.message ?? (this.#outcome.aborted ? 'request aborted' : 'request completed');
  }
}

function levelOf(_req: unknown, res: unknown): 'silent' | 'info' | 'warn' {
  return (res as EndedRequest).level;
}

function describe(_req: unknown, res: unknown): object {
  return (res as EndedRequest).describe();
}

function outcomeOf(_req: unknown, res: unknown): string {
  return (res as EndedRequest).message;
}

const ownLogKey = Symbol('logger of a request');

/**
 * Makes `req.id`, `req.log` and `res.log` of an app's requests what pino-http's users know them to be: the id of the request,
 * and a logger of that request alone, whose `setBindings` and `child` change no other's lines. It is made when it is first
 * asked for.
 */
export function requestLoggers(app: Express, logger: Logger): void {
  Object.defineProperty(app.request, 'id', {
    configurable: true,
    get(this: Request) {
      return requestContextOf(this).requestId;
    },
  });
  for (const prototype of [app.request, app.response]) {
    Object.defineProperty(prototype, 'log', {
      configurable: true,
      get(this: WithLog) {
        this[ownLogKey] ??= logger.child({});
        return this[ownLogKey];
      },
      set(this: WithLog, own: Logger) {
        this[ownLogKey] = own;
      },
    });
  }
}

/** A request or response with a logger of its own. */
type WithLog = Pick<Request, never> & { [ownLogKey]?: Logger };
