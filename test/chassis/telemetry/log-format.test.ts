import { describe, expect, it } from 'vitest';
import { type LogFormat, lineFormat } from '../../../src/chassis/telemetry/log-format.ts';
import { createLogger } from '../../../src/chassis/telemetry/logger.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

/** The lines of a completed request and of an error, as a format has them. */
function written(format: LogFormat): Record<string, unknown>[] {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'info',
    pretty: false,
    format,
    destination: { write: (line) => lines.push(line) },
  });
  const request = {
    requestId: 'r1',
    traceId,
    spanId,
    method: 'GET',
    url: '/a?token=t',
    route: '/a',
    status: 200,
    durationMs: 12,
    userId: 'u1',
  };
  logger.info(request, 'request completed');
  logger.fatal({ err: new RangeError('no stock; password=hidden'), job: 'restock' }, 'two\nlines\u2028');
  for (const line of lines) expect(line).toMatch(/^[^\n\u2028]*\n$/);
  expect(lines.join('')).not.toContain('hidden');
  return lines.map((line) => JSON.parse(line));
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const stack = expect.stringMatching(/^RangeError: no stock; password=\[redacted\]\n {4}at /);

describe('the format of log lines', () => {
  it('ecs has the names of Elastic Common Schema', () => {
    const [completed, failed] = written('ecs');
    expect(completed).toEqual({
      '@timestamp': time,
      'log.level': 'info',
      message: 'request completed',
      'ecs.version': '8.11.0',
      'trace.id': traceId,
      'span.id': spanId,
      'http.request.id': 'r1',
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'url.original': '/a?token=t',
      'event.duration': 12_000_000,
      'user.id': 'u1',
      route: '/a',
    });
    expect(failed).toMatchObject({
      'log.level': 'fatal',
      'error.type': 'RangeError',
      'error.stack_trace': stack,
      job: 'restock',
    });
  });

  it('gcp has the names that Google Cloud reads', () => {
    const [completed, failed] = written('gcp');
    expect(completed).toMatchObject({
      severity: 'INFO',
      time,
      message: 'request completed',
      'logging.googleapis.com/trace': traceId,
      'logging.googleapis.com/spanId': spanId,
      httpRequest: { requestMethod: 'GET', requestUrl: '/a?token=t', status: 200, latency: '0.012s' },
      requestId: 'r1',
      userId: 'u1',
    });
    expect(failed).toMatchObject({ severity: 'CRITICAL', stack_trace: stack });
    expect(failed).not.toHaveProperty('httpRequest');
  });

  it('otel is the data model of logs', () => {
    const [completed, failed] = written('otel');
    expect(completed).toMatchObject({
      Timestamp: expect.stringMatching(/^\d{13}000000$/),
      SeverityText: 'INFO',
      SeverityNumber: 9,
      Body: 'request completed',
      TraceId: traceId,
      SpanId: spanId,
      Attributes: { requestId: 'r1', status: 200 },
    });
    expect(failed).toMatchObject({
      SeverityNumber: 21,
      Attributes: { 'exception.type': 'RangeError', 'exception.stacktrace': stack },
    });
  });

  it('json is that of pino, and costs nothing', () => {
    expect(written('json')[0]).toMatchObject({ level: 'info', requestId: 'r1', msg: 'request completed' });
    expect(lineFormat('json')).toBeUndefined();
  });
});
