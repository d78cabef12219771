import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inQuerySpan } from '../../../../src/chassis/telemetry/tracing/query-span.ts';

const exporter = new InMemorySpanExporter();
const query = { provider: 'sqlite', model: 'Product', operation: 'findMany', sql: 'SELECT 1' } as const;

describe('inQuerySpan()', () => {
  beforeAll(() => {
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
  });
  afterAll(() => trace.disable());
  beforeEach(() => exporter.reset());

  it('makes a client span of a query, which names operation, model and statement', async () => {
    expect(await inQuerySpan(query, async () => 7)).toBe(7);
    expect(exporter.getFinishedSpans()).toMatchObject([
      {
        name: 'findMany Product',
        kind: SpanKind.CLIENT,
        attributes: {
          'db.system.name': 'sqlite',
          'db.operation.name': 'findMany',
          'db.collection.name': 'Product',
          'db.query.text': 'SELECT 1',
        },
      },
    ]);
  });

  it('marks the span of a query that fails, and raises its error', async () => {
    const failing = inQuerySpan(query, () => Promise.reject(new RangeError('no')));
    await expect(failing).rejects.toThrow('no');
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({ status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'RangeError' } });
  });
});
