import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  ATTR_DB_COLLECTION_NAME,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_QUERY_TEXT,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
} from '@opentelemetry/semantic-conventions';

/** A query that a span is made of. */
interface QueryDescription {
  readonly provider: 'postgresql' | 'sqlite';
  readonly model: string;
  readonly operation: string;
  /** The statement, without its arguments. */
  readonly sql: string;
}

/** Runs a query in a span of its own, by OpenTelemetry's conventions for databases, below the span that is active. */
export function inQuerySpan<T>(
  { provider, model, operation, sql }: QueryDescription,
  query: () => Promise<T>,
): Promise<T> {
  const attributes = {
    [ATTR_DB_SYSTEM_NAME]: provider,
    [ATTR_DB_OPERATION_NAME]: operation,
    [ATTR_DB_COLLECTION_NAME]: model,
    [ATTR_DB_QUERY_TEXT]: sql,
  };
  const tracer = trace.getTracer('slipway');
  return tracer.startActiveSpan(`${operation} ${model}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    try {
      return await query();
    } catch (error) {
      const type = error instanceof Error ? error.name : 'Error';
      span.setAttribute(ATTR_ERROR_TYPE, type).setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
