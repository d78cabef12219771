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

/** What the loaders of a service did, and could not do. */
export class StartUpReport {
  readonly #failures: LoadFailure[] = [];
  readonly #skipped: SkippedRoute[] = [];
  #routes: readonly string[] = [];

  /** The parts of modules that could not be loaded; readiness fails while there are any. */
  get failures(): readonly LoadFailure[] {
    return this.#failures;
  }

  /** Keeps a failure for the closing line and for readiness. */
  addFailure(failure: LoadFailure): void {
    this.#failures.push(failure);
  }

  /** Keeps what the route loader mounted, as `METHOD /path`, and what it left out. */
  addRoutes(routes: readonly string[], skipped: readonly SkippedRoute[]): void {
    this.#routes = [...this.#routes, ...routes];
    this.#skipped.push(...skipped);
  }

  /**
   * Writes the closing line of a start: addresses, telemetry, routes mounted and left out, failures, and where each
   * setting came from.
   */
  log(
    logger: Logger,
    settings: readonly SettingSource[],
    urls: readonly string[],
    parts: { internalUrl: string; telemetry: object },
  ): void {
    const failures = this.#failures;
    const report = {
      urls,
      ...parts,
      routes: this.#routes,
      leftOut: this.#skipped,
      failures: failures.map(({ loader, module, file, error }) => ({ loader, module, file, error: messageOf(error) })),
      settings: Object.fromEntries(settings.map(({ name, value, from }) => [name, { value: shown(value), from }])),
    };
    if (failures.length > 0)
      logger.error(report, `started, not ready: ${failures.length} files of modules failed to load`);
    else logger.info(report, `ready at ${urls.join(', ')}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A module may forget to name a setting secret whose URL holds a password. */
function shown(value: unknown): unknown {
  return typeof value === 'string' ? maskText(value) : value;
}
