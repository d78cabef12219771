import { connect } from 'node:net';
import type { Environment } from '../../config/environment.ts';
import type { Finding } from './model-findings.ts';

const timeoutMs = 2000;

/** Settings that name servers to which telemetry goes. */
const endpoints = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'SENTRY_DSN',
] as const;

/** Whether the servers that telemetry goes to can be reached; none for those that are not set. */
export async function endpointFindings(settings: Environment): Promise<Finding[]> {
  const set = endpoints.flatMap((name) => {
    const value = settings[name];
    return typeof value === 'string' && value !== '' ? [{ name, url: new URL(value) }] : [];
  });
  return Promise.all(
    set.map(async ({ name, url }) => {
      const reason = await unreachable(url);
      const what = `telemetry (${name})`;
      if (reason === undefined) return { what, found: `${url.host} answers` };
      return {
        what,
        found: `${url.host} cannot be reached (${reason})`,
        mend: `Correct ${name}, or start what it names.`,
      };
    }),
  );
}

function unreachable({ hostname, port, protocol }: URL): Promise<string | undefined> {
  const socket = connect({
    host: hostname,
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
    timeout: timeoutMs,
  });
  return new Promise<string | undefined>((resolve) => {
    socket.on('connect', () => resolve(undefined));
    socket.on('timeout', () => resolve(`no answer in ${timeoutMs} ms`));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  }).finally(() => socket.destroy());
}
