import { asFunction, type BuildResolver, type DisposableResolver } from 'awilix/browser';
import { z } from 'zod';
import type { Environment } from '../config/environment.ts';
import { isPeerUrl } from '../config/settings/setting-types.ts';
import { currentService } from '../context/current-service.ts';
import type { AnyApi, HttpClient, HttpClientOptions } from './api-types.ts';
import { PeerClient } from './peer-client.ts';

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
