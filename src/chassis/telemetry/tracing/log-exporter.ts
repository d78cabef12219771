import { type AnyValue, type logs, ROOT_CONTEXT, SeverityNumber, TraceFlags, trace } from '@opentelemetry/api';
import type { LoggedFault, LogLine } from '../log-format.ts';

type OtelLogger = ReturnType<typeof logs.getLogger>;

const severities: Record<string, SeverityNumber> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** Takes the lines of a log, which are masked and bounded by then, as records of OpenTelemetry. */
export function logExporter(logger: OtelLogger): (line: string) => void {
  return (text) => {
    const { level = 'info', time, msg, traceId, spanId, err, error, ...fields } = JSON.parse(text) as Partial<LogLine>;
    const fault = err ?? error;
    const number = severities[level];
    logger.emit({
      ...(time !== undefined && { timestamp: new Date(time) }),
      ...(number !== undefined && { severityNumber: number }),
      severityText: level.toUpperCase(),
      body: msg ?? '',
      attributes: { ...attributesOf(fields), ...(fault && exceptionOf(fault)) },
      context: contextOf(traceId, spanId),
    });
  };
}

function attributesOf(fields: Record<string, unknown>) {
  const entries = Object.entries(fields).map(([name, value]) => [name, isPlain(value) ? value : JSON.stringify(value)]);
  return Object.fromEntries(entries) as Record<string, string | number | boolean>;
}

function isPlain(value: unknown): value is AnyValue {
  return typeof value !== 'object' || value === null;
}

function exceptionOf({ type, message, stack }: LoggedFault): Record<string, string> {
  return {
    ...(type !== undefined && { 'exception.type': type }),
    ...(message !== undefined && { 'exception.message': message }),
    ...(stack !== undefined && { 'exception.stacktrace': stack }),
  };
}

/** A record without a span belongs to its trace by an id that no span has. */
function contextOf(traceId: string | undefined, spanId = '0000000000000001') {
  if (traceId === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED });
}
