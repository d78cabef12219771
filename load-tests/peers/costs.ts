import type { Peer } from './peer.ts';

const slipway = '../../dist-peers/load-tests/peers/entries/slipway.js';
/** One client that is as busy as this is within them, and counted. */
const limits = { RATE_LIMIT_ENABLED: 'true', RATE_LIMIT_REQUESTS: '1000000000' };

/** What can be switched off by itself. */
const parts: Readonly<Record<string, Record<string, string>>> = {
  'overload protection': { OVERLOAD_ENABLED: 'false' },
  'rate limit': { RATE_LIMIT_ENABLED: 'false' },
  log: { ENABLE_LOGGING: 'false' },
  spans: { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: '' },
  'security headers': { ENABLE_SECURITY_HEADERS: 'false' },
  CORS: { ENABLE_CORS: 'false' },
  compression: { ENABLE_COMPRESSION: 'false' },
};

/** Slipway with everything on, with everything but one part, and with none of them. */
export function costPeers(env: Record<string, string>): Peer[] {
  const without = (name: string, off: Record<string, string>): Peer => ({
    ...{ name, entry: slipway, env: { ...env, ...limits, ...off } },
  });
  return [
    without('all on', {}),
    ...Object.entries(parts).map(([name, off]) => without(`without ${name}`, off)),
    without('without any', Object.assign({}, ...Object.values(parts))),
  ];
}
