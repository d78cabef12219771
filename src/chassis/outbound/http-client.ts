import { asFunction, type BuildResolver, type DisposableResolver } from 'awilix/browser';
import { z } from 'zod';
import type { Environment } from '../config/environment.ts';
import { isPeerUrl } from '../config/settings/setting-types.ts';
import { currentService } from '../context/current-service.ts';
import type { AnyApi, HttpClient } from './api-types.ts';
import { PeerClient } from './peer-client.ts';

/** How another service is called. */
export interface HttpClientOptions {
  /** Its base URL, or the name of the variable that holds it, such as `PAYMENTS_URL`. */
  url: string;
  /** How long each attempt may take until the last byte of the answer, in milliseconds; the request's deadline may end it sooner. Default 5,000. */
  timeoutMs?: number;
  /** How often a safe call, or one with an idempotency key, is tried again. Default 2. */
  retries?: number;
  /** Calls at the same time, each on a connection of its own. Default 50. */
  connections?: number;
  /** Calls that may wait for one of these connections. Default as many. */
  queue?: number;
  /** The longest body of an answer that is read, in bytes. Default 10 MB. */
  maxBytes?: number;
  /** When the peer is not asked any more. Default: once half of the last 20 calls failed, for 5 seconds. */
  breaker?: { calls?: number; failedShare?: number; openMs?: number };
  /** Headers of every call, such as a token from a setting; asked for once. */
  headers?: (settings: Environment) => Readonly<Record<string, string>>;
}

/** A client that `provide` registers: each service has its own, which its end closes. */
export type HttpClientResolver<Api> = BuildResolver<HttpClient<Api>> &
  DisposableResolver<HttpClient<Api>> & {
    /** The setting that `url` names, for the module's `*.config.ts`. */
    readonly settings: z.ZodRawShape;
  };

const variableName = /^[A-Z][A-Z0-9_]*$/;

/**
 * Declares how another service is called; `provide` makes a client of it for each service. `Api` is the type `paths` that
 * openapi-typescript makes of the peer's OpenAPI document; without it every path is taken and every answer is unknown.
 *
 * Nothing is sent or loaded until a service resolves it. Calls carry the trace of the request, and to hosts that
 * OUTBOUND_TRUSTED_HOSTS names its id, baggage and deadline.
 *
 * @param name names the peer in metrics and logs: letters, digits and `-`
 * @throws Error for a name or an option out of its bounds
 * @example export const payments = httpClient<PaymentsApi>('payments', { url: 'PAYMENTS_URL', timeoutMs: 800, retries: 2 });
 */
export function httpClient<Api extends object = AnyApi>(
  name: string,
  options: HttpClientOptions,
): HttpClientResolver<Api> {
  refuseUnusable(name, options);
  const isVariable = variableName.test(options.url);
  const open = ({ settings }: { settings: Environment }) => {
    const url = isVariable ? (settings as unknown as Record<string, string>)[options.url] : options.url;
    const { logger, metrics } = currentService();
    const headers = options.headers?.(settings) ?? {};
    return new PeerClient(name, { ...options, url: url ?? '', headers }, { logger, metrics: metrics.outbound });
  };
  const resolver = asFunction(open)
    .singleton()
    .disposer((client) => client.close());
  const settings = isVariable ? { [options.url]: peerUrl(name) } : {};
  return Object.assign(resolver, { settings }) as unknown as HttpClientResolver<Api>;
}

/** The setting that holds the base URL of a peer. */
function peerUrl(name: string) {
  return z
    .string({ error: 'expected an http:// or https:// URL without user, password and parameters' })
    .refine(isPeerUrl, 'expected an http:// or https:// URL without user, password and parameters')
    .describe(`Base URL of the service ${name}, which this one calls`);
}

function refuseUnusable(
  name: string,
  { url, timeoutMs, retries, connections, queue, maxBytes }: HttpClientOptions,
): void {
  const whole = (value: number | undefined, minimum: number) =>
    value === undefined || (Number.isSafeInteger(value) && value >= minimum);
  const fits =
    whole(timeoutMs, 1) && whole(retries, 0) && whole(connections, 1) && whole(queue, 0) && whole(maxBytes, 1);
  if (fits && /^[\w-]{1,50}$/.test(name) && (variableName.test(url) || isPeerUrl(url))) return;
  throw new Error(
    'Expected of httpClient a name of letters, digits and -, a url that is the name of a variable such as PAYMENTS_URL ' +
      'or an http:// or https:// URL without user, password and parameters, and whole numbers for the rest; ' +
      `found ${JSON.stringify({ name, url, timeoutMs, retries, connections, queue, maxBytes })}.`,
  );
}
