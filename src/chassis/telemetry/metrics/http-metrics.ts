import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestContext } from '../../context/request-context.ts';
import type { RequestObserver, RequestOutcome } from '../../context/request-observer.ts';
import { knownMethods, otherMethod } from '../known-methods.ts';
import { Histogram, type HistogramSeries, type MetricFamily, type SeriesLimit } from './metric-family.ts';

const labels: readonly string[] = ['method', 'route', 'status'];
const secondsBuckets: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const bytesBuckets: readonly number[] = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/** All requests that no route took, so that paths which clients make up are one series. */
const unmatched = 'unmatched';

const bytesBefore = Symbol('bytes written before');

type CountedResponse = ServerResponse & { [bytesBefore]?: number };

/** The series of one route, status and method, looked up once and then held. */
interface RequestSeries {
  values: readonly string[];
  seconds: HistogramSeries;
  responseBytes: HistogramSeries;
  /** Most requests have no body, so this one is made when the first of them has. */
  requestBytes?: HistogramSeries | undefined;
}

/** Requests as Prometheus sees them: duration, requests in flight, sizes of bodies. */
export class HttpMetrics {
  readonly #held = new Map<string, Map<number, Map<string, RequestSeries>>>();
  readonly #seconds: Histogram;
  readonly #requestBytes: Histogram;
  readonly #responseBytes: Histogram;
  #inFlight = 0;

  constructor(limit: SeriesLimit) {
    this.#seconds = new Histogram(
      {
        name: 'http_request_duration_seconds',
        help: 'Time from when a request came until its answer was handed over.',
        labels,
        buckets: secondsBuckets,
      },
      limit,
    );
    const sizes = { labels, buckets: bytesBuckets };
    this.#requestBytes = new Histogram(
      {
        name: 'http_request_size_bytes',
        help: 'Length of request bodies that came in whole, where it was declared.',
        ...sizes,
      },
      limit,
    );
    this.#responseBytes = new Histogram(
      {
        name: 'http_response_size_bytes',
        help: 'Length of response bodies; of streamed and compressed ones what was sent, with headers.',
        ...sizes,
      },
      limit,
    );
  }

  get families(): MetricFamily[] {
    const inFlight: MetricFamily = {
      name: 'http_requests_in_flight',
      help: 'Requests that have begun and are not answered yet.',
      type: 'gauge',
      samples: () => [{ labels: '', value: this.#inFlight }],
    };
    return [this.#seconds, inFlight, this.#requestBytes, this.#responseBytes];
  }

  /** Sees every request; its two calls together take less than a microsecond. */
  readonly observer: RequestObserver = {
    opened: (_context, req, res) => {
      this.#inFlight += 1;
      (res as CountedResponse)[bytesBefore] = req.socket.bytesWritten;
    },
    closed: (context, req, res, outcome) => {
      this.#inFlight -= 1;
      this.#count(context, req, res, outcome);
    },
  };

  #count(context: RequestContext, req: IncomingMessage, res: ServerResponse, outcome: RequestOutcome): void {
    const series = this.#series(outcome.route ?? unmatched, outcome.status, context.method);
    if (!series) return;
    series.seconds.observe(outcome.seconds, context.sampled ? context.traceId : undefined);
    const length = req.headers['content-length'];
    // A length that was only declared may be any number.
    if (length !== undefined && req.complete) {
      series.requestBytes ??= this.#requestBytes.series.of(...series.values);
      series.requestBytes?.observe(Number(length));
    }
    series.responseBytes.observe(responseLength(req, res, outcome.aborted));
  }

  #series(route: string, status: number, method: string): RequestSeries | undefined {
    const byStatus = this.#held.get(route);
    const byMethod = byStatus?.get(status);
    const known = byMethod?.get(method);
    if (known) return known;
    // Each path answers 405 to 25 methods that no route takes: as series they would leave no room for others.
    const values = [knownMethods.has(method) ? method : otherMethod, route, String(status)];
    const seconds = this.#seconds.series.of(...values);
    const responseBytes = this.#responseBytes.series.of(...values);
    // Nothing is held of what may not have a series, so what is held is bounded too.
    if (!seconds || !responseBytes) return undefined;
    const made: RequestSeries = { values, seconds, responseBytes };
    if (byMethod) byMethod.set(method, made);
    else if (byStatus) byStatus.set(status, new Map([[method, made]]));
    else this.#held.set(route, new Map([[status, new Map([[method, made]])]]));
    return made;
  }
}

function responseLength(req: IncomingMessage, res: CountedResponse, aborted: boolean): number {
  if (req.method === 'HEAD' || res.statusCode === 204 || res.statusCode === 304) return 0;
  const declared = res.getHeader('content-length');
  if (declared !== undefined && !aborted) return Number(declared);
  return req.socket.bytesWritten - (res[bytesBefore] ?? 0);
}
