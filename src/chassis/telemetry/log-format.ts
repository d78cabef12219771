/** How the lines of a log are written; `json` is pino's own form. */
export type LogFormat = 'json' | 'pretty' | 'ecs' | 'gcp' | 'otel';

type Fields = Record<string, unknown>;

/** A line of the log, with the fields that the collectors have names for. */
export interface LogLine extends Fields {
  level: string;
  time: number;
  msg?: string;
  requestId?: string;
  traceId?: string;
  spanId?: string;
  method?: string;
  url?: string;
  status?: number;
  durationMs?: number;
  userAgent?: string;
  ipAddress?: string;
  userId?: string;
  err?: LoggedFault;
  error?: LoggedFault;
}

/** An error as the log writes it. */
export interface LoggedFault {
  type?: string;
  message?: string;
  stack?: string;
}

const severityNumbers: Record<string, number> = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 };
const gcpSeverities: Record<string, string> = { trace: 'DEBUG', warn: 'WARNING', fatal: 'CRITICAL' };

const forms = { ecs, gcp, otel } satisfies Partial<Record<LogFormat, (line: LogLine) => Fields>>;

/**
 * The function that rewrites the lines of pino for a collector: Elastic Common Schema, Google Cloud's structured logging or
 * the log data model of OpenTelemetry. Undefined for `json` and `pretty`, whose lines stay as they are. Parsing and writing
 * a line again takes some microseconds.
 */
export function lineFormat(format: LogFormat): ((line: string) => string) | undefined {
  if (format === 'json' || format === 'pretty') return undefined;
  const form = forms[format];
  return (line) => `${JSON.stringify(form(JSON.parse(line)))}\n`;
}

function ecs(line: LogLine): Fields {
  const { level, time, message, traceId, spanId, fault, rest } = entryOf(line);
  const { method, url, status, durationMs, userAgent, ipAddress, requestId, userId, ...others } = rest;
  return given({
    '@timestamp': new Date(time).toISOString(),
    'log.level': level,
    message,
    'ecs.version': '8.11.0',
    'trace.id': traceId,
    'span.id': spanId,
    'http.request.id': requestId,
    'http.request.method': method,
    'http.response.status_code': status,
    'url.original': url,
    'event.duration': durationMs === undefined ? undefined : durationMs * 1_000_000,
    'user_agent.original': userAgent,
    'client.ip': ipAddress,
    'user.id': userId,
    'error.type': fault?.type,
    'error.message': fault?.message,
    'error.stack_trace': fault?.stack,
    ...others,
  });
}

function gcp(line: LogLine): Fields {
  const { level, time, message, traceId, spanId, fault, rest } = entryOf(line);
  const { method, url, status, durationMs, userAgent, ipAddress, ...others } = rest;
  const request = given({
    requestMethod: method,
    requestUrl: url,
    status,
    latency: durationMs === undefined ? undefined : `${durationMs / 1000}s`,
    userAgent,
    remoteIp: ipAddress,
  });
  return given({
    severity: gcpSeverities[level] ?? level.toUpperCase(),
    time: new Date(time).toISOString(),
    message,
    'logging.googleapis.com/trace': traceId,
    'logging.googleapis.com/spanId': spanId,
    httpRequest: method === undefined ? undefined : request,
    // Error Reporting groups by it.
    stack_trace: fault?.stack,
    ...others,
  });
}

function otel(line: LogLine): Fields {
  const { level, time, message, traceId, spanId, fault, rest } = entryOf(line);
  return given({
    Timestamp: `${time}000000`,
    SeverityText: level.toUpperCase(),
    SeverityNumber: severityNumbers[level],
    Body: message,
    TraceId: traceId,
    SpanId: spanId,
    Attributes: given({
      ...rest,
      'exception.type': fault?.type,
      'exception.message': fault?.message,
      'exception.stacktrace': fault?.stack,
    }),
  });
}

/** The fields that every format has a place for, and the rest of the line. */
function entryOf({ level, time, msg: message = '', traceId, spanId, err, error, ...rest }: LogLine) {
  return { level, time, message, traceId, spanId, fault: err ?? error, rest };
}

function given(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
