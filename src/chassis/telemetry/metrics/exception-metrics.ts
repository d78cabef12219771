import { errorCatalogue } from '../../errors/catalogue.ts';
import { BaseException } from '../../errors/exceptions.ts';
import type { Reporter } from '../../errors/reporters/reporter.ts';
import { type MetricFamily, type SeriesLimit, SeriesMap } from './metric-family.ts';

const metric = 'exceptions_total';
const reported = 'errors_reported_total';
const catalogued = new Set(errorCatalogue.map(({ name }) => name));

/** Counts exceptions that answer requests, by class and status, and errors that code reports, by class. */
export class ExceptionMetrics {
  readonly #counts: SeriesMap<{ value: number }>;
  readonly #reported: SeriesMap<{ value: number }>;

  constructor(limit: SeriesLimit) {
    this.#counts = new SeriesMap(metric, ['exception', 'status'], limit, () => ({ value: 0 }));
    this.#reported = new SeriesMap(reported, ['exception'], limit, () => ({ value: 0 }));
  }

  /** For the error handler. */
  readonly reporter: Reporter = {
    report: (exception) => {
      const count = this.#counts.of(className(exception), String(exception.statusCode));
      if (count) count.value += 1;
    },
  };

  /** For what `reportError` reports, which stands in the exception as its cause. */
  readonly errorReporter: Reporter = {
    report: ({ cause }) => {
      const count = this.#reported.of(className(cause));
      if (count) count.value += 1;
    },
  };

  get families(): MetricFamily[] {
    return [
      {
        name: metric,
        help: 'Exceptions that answered a request, by class of the chassis; a module counts under the class it extends.',
        type: 'counter',
        samples: () => [...this.#counts].map(([labels, { value }]) => ({ labels, value })),
      },
      {
        name: reported,
        help: 'Errors that code reported beside an answer, by class of the chassis; Error for all others.',
        type: 'counter',
        samples: () => [...this.#reported].map(([labels, { value }]) => ({ labels, value })),
      },
    ];
  }
}

/** The nearest class of the catalogue, so that no name made up at run time becomes a label; else `Error`. */
function className(error: unknown): string {
  let prototype: object | null = error instanceof BaseException ? error : null;
  while (prototype !== null) {
    const { name } = prototype.constructor;
    if (catalogued.has(name)) return name;
    prototype = Object.getPrototypeOf(prototype);
  }
  return 'Error';
}
