import type { RequestContext } from '../../context/request-context.ts';
import { BaseException, InternalServerErrorException } from '../exceptions.ts';
import type { Reporter } from './reporter.ts';
import { type ReporterLog, tellReporters } from './tell-reporters.ts';

/** Sends errors that answer no request, such as those of a timer or a consumer, to all reporters of faults. */
export class ErrorReports {
  readonly #log: ReporterLog;
  readonly #reporters: Reporter[];

  constructor(log: ReporterLog, reporters: readonly Reporter[]) {
    this.#log = log;
    this.#reporters = [...reporters];
  }

  /** Adds reporters for everything that is reported from now on. */
  addReporters(reporters: readonly Reporter[]): void {
    this.#reporters.push(...reporters);
  }

  /**
   * Reports an error as a fault, whatever it is, with its request where it has one. Never throws.
   *
   * @param fields what else the log and the monitor are to know; those of the request stand over them
   */
  report(error: unknown, request: RequestContext | undefined, fields?: Readonly<Record<string, unknown>>): void {
    tellReporters(this.#reporters, faultOf(error, { ...fields, ...requestFields(request) }), request, this.#log);
  }
}

/** Any error as an exception that is not operational, with the error as its cause. */
export function faultOf(error: unknown, fields: Record<string, unknown>): BaseException {
  const message = error instanceof Error && typeof error.message === 'string' ? error.message : '';
  const context = { ...(error instanceof BaseException && error.context), ...fields };
  return new InternalServerErrorException(message || undefined, undefined, { cause: error ?? String(error), context });
}

function requestFields(request: RequestContext | undefined): Record<string, unknown> {
  if (request === undefined) return {};
  const { requestId, traceId, method, url } = request;
  return { requestId, ...(traceId !== undefined && { traceId }), method, url };
}
