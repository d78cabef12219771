import type { DiagLogger } from '@opentelemetry/api';
import { runOutsideRequest } from '../../context/request-context.ts';
import type { Logger } from '../logger.ts';

const repeatAfterMs = 60_000;
const maximumLength = 500;

/**
 * Writes what OpenTelemetry says of itself to the log: failed exports and dropped spans. A collector that stays lost
 * says the same every few seconds, so each kind is written once a minute.
 */
export function diagnosticLog(logger: Logger): DiagLogger {
  const written = new Map<string, number>();
  const write = (level: 'error' | 'warn', text: string) => {
    const message = messageOf(text);
    const kind = message.replace(/\d+/g, '0');
    const now = performance.now();
    if (now - (written.get(kind) ?? Number.NEGATIVE_INFINITY) < repeatAfterMs) return;
    if (written.size < 100) written.set(kind, now);
    // Batches are sent in the context of whichever request came first, which is not theirs.
    runOutsideRequest(() => logger[level]({ telemetry: message }, 'exporting telemetry failed'));
  };
  const ignore = () => undefined;
  return {
    error: (text) => write('error', text),
    warn: (text) => write('warn', text),
    info: ignore,
    debug: ignore,
    verbose: ignore,
  };
}

/** Errors come as JSON with their stack, which lies inside the library. */
function messageOf(text: string): string {
  return (/"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text).slice(0, maximumLength);
}
