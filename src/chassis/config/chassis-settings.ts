import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { databaseUrlProblem } from './settings/database-url-problem.ts';
import { eventSettings } from './settings/event-settings.ts';
import { identitySettings } from './settings/identity-settings.ts';
import { internalSettings } from './settings/internal-settings.ts';
import { jobSettings } from './settings/job-settings.ts';
import { lifecycleSettings } from './settings/lifecycle-settings.ts';
import { budgetIn, connectionsIn, memoryLimit } from './settings/memory-limit.ts';
import { overloadSettings } from './settings/overload-settings.ts';
import { replicaSettings } from './settings/replica-settings.ts';
import { sentrySettings } from './settings/sentry-settings.ts';
import { flag, isOriginList, isProxyList, isPublicUrl, wholeNumber } from './settings/setting-types.ts';
import { tracingSettings } from './settings/tracing-settings.ts';
import { uploadSettings } from './settings/upload-settings.ts';

/** The settings of the chassis. Modules add their own by `<x>.config.ts`. */
export const chassisSettings = {
  NODE_ENV: z
    .enum(['development', 'test', 'production'], { error: 'expected development, test or production' })
    .default('development')
    .describe('`production` hides the text of server errors and requires explicit secrets'),
  HOST: z.string().default('0.0.0.0').describe('Address that the service listens on'),
  PORT: wholeNumber(0, 65_535, 3000).describe('Port that the service listens on; 0 takes a free one'),
  PORT_SHARED: flag(false).describe(
    'Whether several processes of the service may listen on PORT, over which Linux spreads new connections; each needs an INTERNAL_PORT of its own',
  ),
  TRUST_PROXY: z
    .string()
    .refine(
      isProxyList,
      'expected false, a number of hops, or a comma list of addresses and networks, /8 (IPv4) or /16 (IPv6) at the widest',
    )
    .default('false')
    .describe(
      'Whose X-Forwarded-For is believed: `false`, a number of hops to 99, which believes all who connect, or a comma list of addresses and networks, /8 (IPv4) or /16 (IPv6) at the widest',
    ),
  DATABASE_URL: z
    .string()
    .check((url) => {
      const message = databaseUrlProblem(url.value);
      if (message) url.issues.push({ code: 'custom', message, input: url.value });
    })
    .default('file:./data/slipway.db')
    .describe('PostgreSQL URL or SQLite `file:` path; `none` for a service without a database')
    .meta({ secret: true, publicDefault: true, requiredInProduction: true }),
  ...replicaSettings,
  DATABASE_POOL_SIZE: wholeNumber(1, 1000, 10).describe('Connections to PostgreSQL at most, and to the replica'),
  DATABASE_ACQUIRE_TIMEOUT_MS: wholeNumber(1, 600_000, 2000).describe(
    'How long a query waits for a connection, in milliseconds',
  ),
  DATABASE_STATEMENT_TIMEOUT_MS: wholeNumber(1, 3_600_000, 10_000).describe(
    'How long one statement may run, in milliseconds',
  ),
  DATABASE_IDLE_TIMEOUT_MS: wholeNumber(1, 3_600_000, 30_000).describe(
    'How long an unused connection stays open, in milliseconds',
  ),
  DATABASE_JSON_READS: flag(true).describe('Let the database make the JSON of lists and single records'),
  DATABASE_MIGRATE: flag(true).describe('Apply migrations at start; by default only outside production'),
  DATABASE_SEED: z
    .enum(['none', 'small', 'full'], { error: 'expected none, small or full' })
    .default('none')
    .describe('Sample data put into an empty database at start; `small` in development when DATABASE_URL is not set'),
  AUDIT_TRAIL_DAYS: wholeNumber(0, 36_500, 365).describe(
    'How long the audit trails of repositories keep a change, in days; 0 keeps all',
  ),
  CURSOR_SECRET: z
    .string()
    .refine((value) => Buffer.byteLength(value) >= 32, 'expected at least 32 bytes, e.g. of `openssl rand -base64 32`')
    .default(() => randomBytes(32).toString('base64'))
    .describe(
      'Signs paging cursors, the same on all replicas; made anew at each start outside production and without a database',
    )
    .meta({ secret: true, requiredInProduction: 'of lists' }),
  ENABLE_CORS: flag(true).describe('Cross-origin resource sharing'),
  CORS_ORIGINS: z
    .string()
    .refine(isOriginList, 'expected * or a comma list of origins such as https://shop.example.com')
    .default('*')
    .transform((list) => list.split(',').map((origin) => origin.trim()))
    .describe('Origins that may call from a browser: `*` or a comma list'),
  ENABLE_SECURITY_HEADERS: flag(true).describe('Security response headers'),
  ENABLE_COMPRESSION: flag(true).describe('Response compression'),
  ENABLE_LOGGING: flag(true).describe('One log line per request'),
  ENABLE_OPENAPI: flag(true).describe('The API page at /api-docs'),
  BODY_LIMIT_BYTES: wholeNumber(1, 100_000_000, 1_048_576).describe('Largest request body, in bytes'),
  ...uploadSettings,
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'expected trace, debug, info, warn, error, fatal or silent',
    })
    .default('info')
    .describe('Least severe log level that is written'),
  LOG_FORMAT: z
    .enum(['json', 'pretty', 'ecs', 'gcp', 'otel'], { error: 'expected json, pretty, ecs, gcp or otel' })
    .default('json')
    .describe(
      'How log lines are written: `json`, `pretty` for people, or for collectors `ecs` (Elastic), `gcp` (Google Cloud), `otel` (OpenTelemetry); `pretty` in development',
    ),
  LOG_TRANSPORT: z
    .string()
    .optional()
    .describe('Package or absolute path of a pino transport that gets every line beside standard output'),
  LOG_TRANSPORT_OPTIONS: z
    .string()
    .transform((text, issues) => {
      const options = optionsOf(text);
      if (options) return options;
      issues.addIssue({ code: 'custom', message: 'expected a JSON object' });
      return z.NEVER;
    })
    .optional()
    .describe('Its options, as a JSON object')
    .meta({ secret: true }),
  OPENAPI_TITLE: z.string().default('Slipway').describe('Title of the API page'),
  OPENAPI_VERSION: z.string().default('1.0.0').describe('Version that the API description declares'),
  OPENAPI_DESCRIPTION: z
    .string()
    .default('Reference service of the Slipway chassis')
    .describe('Description on the API page'),
  OPENAPI_SERVER_URL: z
    .string()
    .refine(
      isPublicUrl,
      'expected a path or an http:// or https:// URL, without a user, password or parameters, which all would see',
    )
    .default('/')
    .describe('Server entry of the API description: a path or a URL'),
  ...lifecycleSettings,
  ...jobSettings,
  ...eventSettings,
  ...overloadSettings,
  ...identitySettings,
  ...internalSettings,
  ...sentrySettings,
  ...tracingSettings,
};

function optionsOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The settings that apply only where another setting leaves them open. */
export const derivedDefaults: Readonly<Record<string, (raw: Readonly<Record<string, string>>) => string>> = {
  LOG_FORMAT: ({ NODE_ENV }) => (NODE_ENV === 'development' || NODE_ENV === undefined ? 'pretty' : 'json'),
  DATABASE_MIGRATE: ({ NODE_ENV }) => String(NODE_ENV !== 'production'),
  SHUTDOWN_ACCEPT_MS: ({ NODE_ENV }) => (NODE_ENV === 'production' ? '5000' : '0'),
  DATABASE_CONNECT_TIMEOUT_MS: ({ NODE_ENV }) => (NODE_ENV === 'production' ? '30000' : '2000'),
  // Only into the embedded database: a database that DATABASE_URL names gets no sample accounts.
  DATABASE_SEED: ({ NODE_ENV = 'development', DATABASE_URL }) =>
    NODE_ENV === 'development' && DATABASE_URL === undefined ? 'small' : 'none',
  HTTP_MAX_CONNECTIONS: () => String(connectionsIn(memoryLimit())),
  HTTP_SEND_BUDGET_BYTES: () => String(budgetIn(memoryLimit())),
  SENTRY_ENVIRONMENT: ({ NODE_ENV }) => NODE_ENV || 'development',
};
