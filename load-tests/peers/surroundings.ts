import { createServer } from 'node:http';

/** What takes the traces of the peers, and how they are to send them: a tenth of all. */
export async function startCollector(): Promise<{
  env: Record<string, string>;
  received: () => number;
  stop: () => void;
}> {
  let received = 0;
  const collector = createServer((request, response) => {
    received += 1;
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => collector.once('listening', resolve));
  const { port } = collector.address() as { port: number };
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.1',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_SERVICE_NAME: 'peer',
  };
  return { env, received: () => received, stop: () => void collector.close() };
}

/** The middle of numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle) - 1] as number)) / 2;
}
