import type { SettingSource } from '../config/environment.ts';
import type { Logger } from '../telemetry/logger.ts';
import { maskText } from '../telemetry/redact.ts';

/** A part of a module that could not be loaded; the service runs without it and is not ready. */
export interface LoadFailure {
  loader: 'loadDI' | 'loadRoutes';
  module: string;
  file: string;
  error: unknown;
}

/** A route file that configuration leaves out, and why. */
export interface SkippedRoute {
  module: string;
  file: string;
  reason: 'disabled' | 'not in includeRoutes' | 'in excludeRoutes';
}

const failures: LoadFailure[] = [];
const leftOut: SkippedRoute[] = [];
let mounted: readonly string[] = [];

/** Forgets the last start. */
export function resetStartUpReport(): void {
  failures.length = 0;
  leftOut.length = 0;
  mounted = [];
}

/** Keeps a failure for the report and for readiness. */
export function recordFailure(failure: LoadFailure): void {
  failures.push(failure);
}

/** The parts of modules that could not be loaded; readiness fails while there are any. */
export function loadFailures(): readonly LoadFailure[] {
  return failures;
}

/** Keeps what the route loader mounted, as `METHOD /path`, and what it left out. */
export function recordRoutes(routes: readonly string[], left: readonly SkippedRoute[]): void {
  mounted = routes;
  leftOut.push(...left);
}

/**
 * Writes the closing line of a start: addresses, telemetry, routes mounted and left out, failures, and where each setting
 * came from.
 */
export function logStartUpReport(
  logger: Logger,
  settings: readonly SettingSource[],
  urls: readonly string[],
  parts: { internalUrl: string; telemetry: object },
): void {
  const report = {
    urls,
    ...parts,
    routes: mounted,
    leftOut,
    failures: failures.map(({ loader, module, file, error }) => ({ loader, module, file, error: messageOf(error) })),
    settings: Object.fromEntries(settings.map(({ name, value, from }) => [name, { value: shown(value), from }])),
  };
  if (failures.length > 0) logger.error(report, `started with ${failures.length} failed module parts, not ready`);
  else logger.info(report, `ready at ${urls.join(', ')}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A module may forget to name a setting secret whose URL holds a password. */
function shown(value: unknown): unknown {
  return typeof value === 'string' ? maskText(value) : value;
}
