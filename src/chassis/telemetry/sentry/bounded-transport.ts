import http from 'node:http';
import https from 'node:https';
import { makeNodeTransport } from '@sentry/node';
import { runOutsideRequest } from '../../context/request-context.ts';

type TransportOptions = Parameters<typeof makeNodeTransport>[0];
type HttpModule = NonNullable<TransportOptions['httpModule']>;

/**
 * Sentry's transport with a limit on each delivery. Without one, an ingest that accepts connections and never answers
 * would fill the buffer for good, and no event would arrive after it recovered.
 *
 * @param timeoutMs how long an event may be on its way, in milliseconds
 */
export function boundedTransport(options: TransportOptions, timeoutMs = 5_000): ReturnType<typeof makeNodeTransport> {
  const { request } = new URL(options.url).protocol === 'https:' ? https : http;
  const httpModule: HttpModule = {
    request(target, callback) {
      const limited = { ...(target as http.RequestOptions), signal: AbortSignal.timeout(timeoutMs) };
      // What a request carries to the services that it calls is none of Sentry's business.
      return runOutsideRequest(() => request(limited, callback as (response: http.IncomingMessage) => void));
    },
  };
  return makeNodeTransport({ ...options, httpModule });
}
