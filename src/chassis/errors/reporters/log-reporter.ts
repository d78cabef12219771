import type { RequestContext } from '../../context/request-context.ts';
import type { BaseException } from '../exceptions.ts';
import type { Reporter } from './reporter.ts';

const maximumDetailsLength = 2_048;

/** The one line of a request in the log, which is written when the request is over. */
export interface RequestLine {
  /** What writes it. */
  readonly log: object;
  written: boolean;
  /** Why the request was refused, which the line then says. */
  refusal?: { readonly message: string; readonly fields: object };
}

type LoggedRequest = RequestContext & { readonly line?: RequestLine };

/** The part of a logger that the reporter writes to. */
interface ErrorLog {
  warn(line: object, message: string): void;
  error(line: object, message: string): void;
}

/**
 * A reporter that logs every exception: status 500 and above as an error with its stack, the rest as a warning without
 * (spec.md: Handling, rules 2 and 4). Bodies and headers of the request are never logged. A warning is the line of its
 * request where that is still to be written, because to write a line is a good part of the cost of a refusal.
 */
export function logReporter(log: ErrorLog): Reporter {
  return {
    report(exception, requestContext) {
      const line = describe(exception, requestContext);
      const own = (requestContext as LoggedRequest | undefined)?.line;
      const isPending = own?.log === log && !own.written && own.refusal === undefined;
      if (exception.statusCode >= 500) log.error({ ...line, error: fault(exception) }, exception.message);
      else if (isPending) own.refusal = { message: exception.message, fields: line };
      else log.warn(line, exception.message);
    },
  };
}

function describe(exception: BaseException, requestContext: RequestContext | undefined): Record<string, unknown> {
  return {
    ...exception.context,
    ...(requestContext?.userId !== undefined && { userId: requestContext.userId }),
    exception: exception.name,
    statusCode: exception.statusCode,
    ...(exception.details !== undefined && { details: bounded(exception.details) }),
  };
}

/** The stack holds the stacks of all causes. */
function fault({ name, message, stack, isOperational }: BaseException): Record<string, unknown> {
  return { type: name, message, isOperational, stack };
}

/** A client decides how much details hold, so a log line takes no more than a part. */
function bounded(details: unknown): unknown {
  const length = jsonLength(details);
  return length <= maximumDetailsLength ? details : `details left out: ${length} characters of JSON`;
}

/** Infinite for what JSON cannot hold, such as a cycle. */
function jsonLength(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
