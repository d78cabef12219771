import { EventEmitter, on, once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { Message } from './protobuf.ts';

/** What a collector was sent, whatever protocol brought it. */
export interface Received {
  protocol: 'grpc' | 'http/protobuf' | 'http/json';
  spans: { name: string; kind: number; traceId: string; spanId: string; parentSpanId: string; service: string }[];
  metrics: { name: string; type: 'gauge' | 'sum' | 'histogram' }[];
  logs: { body: string; traceId: string; severity: string; attributes: string[] }[];
}

/** A collector of OTLP: one address for HTTP, in protobuf and in JSON, one for gRPC. */
export class OtlpCollector {
  readonly received: Received[] = [];
  readonly #arrivals = new EventEmitter();
  readonly #http = createHttpServer(async (req, res) => {
    const bytes = await buffer(req);
    const type = req.headers['content-type'] ?? '';
    const signal = req.url?.split('/').at(-1) ?? '';
    this.#take(
      type === 'application/json' ? readJson(JSON.parse(String(bytes))) : read(signal, bytes, 'http/protobuf'),
    );
    res.setHeader('content-type', type).end(type === 'application/json' ? '{}' : '');
  });
  readonly #grpc = createHttp2Server().on(
    'stream',
    (stream, { ':path': path }) => void this.#answer(stream, path ?? ''),
  );

  /** Listens on free ports of loopback until the end of the test. */
  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    const servers = [collector.#http, collector.#grpc];
    await Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening')));
    onTestFinished(() => {
      collector.#http.closeAllConnections();
      for (const server of servers) server.close();
    });
    return collector;
  }

  /** The address that a protocol is spoken at. */
  url(protocol: Received['protocol']): string {
    const server = protocol === 'grpc' ? this.#grpc : this.#http;
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  get spans(): Received['spans'] {
    return this.received.flatMap(({ spans }) => spans);
  }

  get metrics(): Received['metrics'] {
    return this.received.flatMap(({ metrics }) => metrics);
  }

  get logs(): Received['logs'] {
    return this.received.flatMap(({ logs }) => logs);
  }

  /** Resolves once what has arrived fulfils the condition. */
  async until(condition: () => boolean): Promise<void> {
    if (condition()) return;
    for await (const _ of on(this.#arrivals, 'received')) if (condition()) return;
  }

  #take(received: Received): void {
    this.received.push(received);
    this.#arrivals.emit('received');
  }

  /** A call of gRPC: a message behind five bytes of prefix, the answer in the same form, the status in trailers. */
  async #answer(stream: ServerHttp2Stream, path: string): Promise<void> {
    const bytes = await buffer(stream);
    const signal = { TraceService: 'traces', MetricsService: 'metrics', LogsService: 'logs' };
    const service = /(\w+)\/Export$/.exec(path)?.[1] as keyof typeof signal;
    this.#take(read(signal[service], bytes.subarray(5), 'grpc'));
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  }
}

function read(signal: string, bytes: Buffer, protocol: Received['protocol']): Received {
  const resources = new Message(bytes).all(1);
  const items = resources.flatMap((resource) =>
    resource.all(2).flatMap((scope) => scope.all(2).map((item) => ({ resource, item }))),
  );
  const of = <T>(name: string, make: (item: Message, resource: Message) => T): T[] =>
    signal === name ? items.map(({ item, resource }) => make(item, resource)) : [];
  return { protocol, spans: of('traces', spanOf), metrics: of('metrics', metricOf), logs: of('logs', logOf) };
}

function spanOf(span: Message, resource: Message): Received['spans'][number] {
  const attributes = resource.all(1).flatMap((one) => one.all(1));
  const service = attributes.find((attribute) => attribute.text(1) === 'service.name');
  return {
    name: span.text(5),
    kind: 0,
    traceId: span.bytes(1).toString('hex'),
    spanId: span.bytes(2).toString('hex'),
    parentSpanId: span.bytes(4).toString('hex'),
    service: service?.all(2)[0]?.text(1) ?? '',
  };
}

function metricOf(metric: Message): Received['metrics'][number] {
  return { name: metric.text(1), type: metric.has(9) ? 'histogram' : metric.has(7) ? 'sum' : 'gauge' };
}

function logOf(record: Message): Received['logs'][number] {
  return {
    body: record.all(5)[0]?.text(1) ?? '',
    traceId: record.bytes(9).toString('hex'),
    severity: record.text(3),
    attributes: record.all(6).map((attribute) => attribute.text(1)),
  };
}

/** The parts of OTLP in JSON that are read here. */
interface JsonItem {
  name: string;
  kind: number;
  traceId?: string;
  spanId: string;
  parentSpanId?: string;
  histogram?: object;
  sum?: object;
  body: { stringValue: string };
  severityText: string;
  attributes: { key: string; value: { stringValue: string } }[];
}

type JsonScope = Record<string, JsonItem[]>;
type JsonResource = { resource: Pick<JsonItem, 'attributes'> } & Record<string, JsonScope[]>;

function readJson(body: Record<string, JsonResource[] | undefined>): Received {
  const items = (signal: string, plural: string) =>
    (body[`resource${signal}`] ?? []).flatMap((one) =>
      (one[`scope${signal}`] ?? []).flatMap((scope) => (scope[plural] ?? []).map((item) => ({ one, item }))),
    );
  return {
    protocol: 'http/json',
    spans: items('Spans', 'spans').map(({ one, item: { name, kind, traceId = '', spanId, parentSpanId = '' } }) => ({
      ...{ name, kind, traceId, spanId, parentSpanId },
      service: one.resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '',
    })),
    metrics: items('Metrics', 'metrics').map(({ item }) => ({
      name: item.name,
      type: item.histogram ? 'histogram' : item.sum ? 'sum' : 'gauge',
    })),
    logs: items('Logs', 'logRecords').map(({ item }) => ({
      body: item.body.stringValue,
      traceId: item.traceId ?? '',
      severity: item.severityText,
      attributes: item.attributes.map(({ key }) => key),
    })),
  };
}
