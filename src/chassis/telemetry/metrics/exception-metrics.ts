import { errorCatalogue } from '../../errors/catalogue.ts';
import type { BaseException } from '../../errors/exceptions.ts';
import type { Reporter } from '../../errors/reporters/reporter.ts';
import { type MetricFamily, type SeriesLimit, SeriesMap } from './metric-family.ts';

const metric = 'exceptions_total';
const catalogued = new Set(errorCatalogue.map(({ name }) => name));

/** Counts the exceptions that answer requests, by class and status. Add its `reporter` to the error handler's. */
export class ExceptionMetrics {
  readonly #counts: SeriesMap<{ value: number }>;

  constructor(limit: SeriesLimit) {
    this.#counts = new SeriesMap(metric, ['exception', 'status'], limit, () => ({ value: 0 }));
  }

  readonly reporter: Reporter = {
    report: (exception) => {
      const count = this.#counts.of(className(exception), String(exception.statusCode));
      if (count) count.value += 1;
    },
  };

  get family(): MetricFamily {
    return {
      name: metric,
      help: 'Exceptions that answered a request, by class of docs/errors.md; a module counts under the class it extends.',
      type: 'counter',
      samples: () => [...this.#counts].map(([labels, { value }]) => ({ labels, value })),
    };
  }
}

/** The nearest class of the catalogue, so that no name made up at run time becomes a label; else `Error`. */
function className(exception: BaseException): string {
  let prototype: object | null = exception;
  while (prototype !== null) {
    const { name } = prototype.constructor;
    if (catalogued.has(name)) return name;
    prototype = Object.getPrototypeOf(prototype);
  }
  return 'Error';
}
