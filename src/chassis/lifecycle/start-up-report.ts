import type { SettingSource } from '../config/environment.ts';
import type { MisspeltVariable } from '../config/misspelt-variables.ts';
import type { Logger } from '../telemetry/logger.ts';
import { maskText } from '../telemetry/redact.ts';
import { secretField } from '../telemetry/secret-names.ts';

/** Raised when the service cannot start; the message says what was expected, what was found and what to do. */
export class StartUpError extends Error {
  override readonly name: string = 'StartUpError';
}

/** Raised by a start that was stopped by `close()`, after what it had opened is closed. */
export class StartStoppedError extends StartUpError {
  override readonly name = 'StartStoppedError';
}

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

/** What the closing line of a start is made of. */
interface StartUpParts {
  urls: readonly string[];
  internalUrl: string;
  telemetry: object;
  settings: readonly SettingSource[];
  /** What a person at a terminal wants to know. */
  summary: Readonly<Record<string, string>>;
}

/** What the loaders of a service did, and could not do. */
export class StartUpReport {
  readonly #logger: Logger;
  readonly #forPeople: boolean;
  readonly #failures: LoadFailure[] = [];
  readonly #skipped: SkippedRoute[] = [];
  #routes: readonly string[] = [];
  /** What a loader has to say to a person, such as the accounts that it made. */
  readonly notes: Record<string, string> = {};

  /** @param options.forPeople whether a person reads the log, as in development: a few lines then, the rest at debug */
  constructor(logger: Logger, { forPeople }: { forPeople: boolean }) {
    this.#logger = logger;
    this.#forPeople = forPeople;
  }

  /** Logs a step of the start. */
  step(fields: object, message: string): void {
    this.#logger[this.#forPeople ? 'debug' : 'info'](fields, message);
  }

  /** Warns of variables that are probably misspelt settings. Names them, and never their values. */
  misspelt(variables: readonly MisspeltVariable[]): void {
    for (const { name, meant } of variables) {
      this.#logger.warn({ variable: name, meant }, `unknown variable ${name}, ${meant} was probably meant`);
    }
  }

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
   * setting came from. For people it is a few lines, or the failures alone, and the rest at debug.
   */
  log({ urls, settings, summary, ...parts }: StartUpParts): void {
    const logger = this.#logger;
    const failures = this.#failures;
    const report = {
      urls,
      ...parts,
      routes: this.#routes,
      leftOut: this.#skipped,
      failures: failures.map(({ loader, module, file, error }) => ({ loader, module, file, error: messageOf(error) })),
      // A list: as names of fields AUTH_ACCESS_TOKEN_TTL_SECONDS and its like would be masked, whatever they hold.
      settings: settings.map((setting) => ({ ...setting, value: shown(setting) })),
    };
    if (failures.length > 0) {
      const files = failures.length === 1 ? 'file' : 'files';
      const failed = `started, not ready: ${failures.length} ${files} of modules failed to load`;
      const problems = report.failures.map(({ module, file, error }) => `  - ${module}/${file}: ${error}`);
      if (this.#forPeople) logger.error([failed, ...problems].join('\n'));
      else logger.error(report, failed);
    } else if (this.#forPeople) logger.info({ ...this.notes, ...summary }, `ready at ${urls.join(', ')}`);
    else logger.info(report, `ready at ${urls.join(', ')}`);
    if (this.#forPeople) logger.debug(report, 'start-up report');
  }
}

/** Settings by name, each with where it came from; secrets are masked. */
export function shownSettings(
  settings: readonly SettingSource[],
): Record<string, Pick<SettingSource, 'value' | 'from'>> {
  return Object.fromEntries(settings.map((setting) => [setting.name, { value: shown(setting), from: setting.from }]));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A module may forget to name a setting secret. Numbers and switches are none, nor is what stands in the sources. */
export function shown({ name, value, from }: SettingSource): unknown {
  const isText = typeof value === 'string' || (typeof value === 'object' && value !== null);
  if (!isText || from === 'default') return value;
  if (secretField.test(name)) return '[redacted]';
  if (typeof value === 'string') return maskText(value);
  // What a setting was made into, such as a list or a URL, holds texts too.
  const text = JSON.stringify(value, (_name, inner) => (typeof inner === 'bigint' ? String(inner) : inner));
  return JSON.parse(text, masked);
}

function masked(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return secretField.test(name) ? '[redacted]' : maskText(value);
}
