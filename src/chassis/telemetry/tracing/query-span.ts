import { type Attributes, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  ATTR_DB_COLLECTION_NAME,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_QUERY_TEXT,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
} from '@opentelemetry/semantic-conventions';

/** Where a database listens; SQLite has none. */
interface ServerName {
  readonly address: string;
  readonly port: number;
}

/** A query that a span is made of. */
interface QueryDescription {
  readonly provider: 'postgresql' | 'sqlite';
  readonly server?: ServerName | undefined;
  readonly model: string;
  readonly operation: string;
  /** The statement, without its arguments. */
  readonly sql: string;
}

/** Runs a query in a span of its own, by OpenTelemetry's conventions for databases, below the span that is active. */
export function inQuerySpan<T>(description: QueryDescription, query: () => Promise<T>): Promise<T> {
  const { provider, server, model, operation, sql } = description;
  const attributes = {
    [ATTR_DB_SYSTEM_NAME]: provider,
    [ATTR_DB_OPERATION_NAME]: operation,
    [ATTR_DB_COLLECTION_NAME]: model,
    [ATTR_DB_QUERY_TEXT]: sql,
    ...serverAttributes(server),
  };
  return inSpan(`${operation} ${model}`, SpanKind.CLIENT, attributes, query);
}

/** Runs a read of the replica in a span that names its server, because the ORM's own spans name none. */
export function inReplicaSpan<T>(server: ServerName | undefined, read: () => Promise<T>): Promise<T> {
  return inSpan('read replica', SpanKind.INTERNAL, serverAttributes(server), read);
}

function serverAttributes(server: ServerName | undefined): Attributes {
  return server ? { [ATTR_SERVER_ADDRESS]: server.address, [ATTR_SERVER_PORT]: server.port } : {};
}

function inSpan<T>(name: string, kind: SpanKind, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  return trace.getTracer('slipway').startActiveSpan(name, { kind, attributes }, async (span) => {
    try {
      return await work();
    } catch (error) {
      const type = error instanceof Error ? error.name : 'Error';
      span.setAttribute(ATTR_ERROR_TYPE, type).setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
