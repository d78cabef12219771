import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** A span as OTLP writes it in JSON, with the attributes as an object. */
export interface ExportedSpan {
  scope: string;
  service: string;
  name: string;
  /** 1 internal, 2 server, 3 client. */
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code: number; message?: string };
  attributes: Record<string, unknown>;
  events: { name: string; attributes: Record<string, unknown> }[];
}

/** What arrived at the collector. */
export interface FakeCollector {
  url: string;
  spans: ExportedSpan[];
  /** Of each request that came. */
  headers: IncomingHttpHeaders[];
  /** Bodies that are not JSON, such as protobuf. */
  bodies: { path: string; contentType: string; bytes: Buffer }[];
  /** Resolves once what has arrived fulfils the condition. */
  until(condition: () => boolean): Promise<void>;
}

/** An OTLP collector on a free port until the end of the test. A hanging one reads and never answers. */
export async function fakeCollector(options: { hangs?: boolean } = {}): Promise<FakeCollector> {
  const waiting = new Set<() => void>();
  const spans: ExportedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const bodies: FakeCollector['bodies'] = [];
  const server = createServer(async (req, res) => {
    const bytes = await buffer(req);
    headers.push(req.headers);
    const contentType = req.headers['content-type'] ?? '';
    if (contentType === 'application/json') spans.push(...spansOf(JSON.parse(bytes.toString())));
    else bodies.push({ path: req.url ?? '', contentType, bytes });
    if (!options.hangs) res.setHeader('content-type', contentType).end(contentType === 'application/json' ? '{}' : '');
    for (const check of waiting) check();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const until = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!condition()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, headers, bodies, until };
}

// biome-ignore lint/suspicious/noExplicitAny: the parts of OTLP that are read here are in ExportedSpan
function spansOf(request: any): ExportedSpan[] {
  // biome-ignore lint/suspicious/noExplicitAny: see above
  return request.resourceSpans.flatMap((resource: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: see above
    resource.scopeSpans.flatMap(({ scope, spans }: any) =>
      // biome-ignore lint/suspicious/noExplicitAny: see above
      spans.map((span: any) => ({
        ...span,
        scope: scope.name,
        service: attributesOf(resource.resource.attributes)['service.name'],
        attributes: attributesOf(span.attributes),
        // biome-ignore lint/suspicious/noExplicitAny: see above
        events: (span.events ?? []).map((event: any) => ({ ...event, attributes: attributesOf(event.attributes) })),
      })),
    ),
  );
}

function attributesOf(attributes: { key: string; value: object }[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
