import type { Metric } from 'prom-client';

/** The part of prom-client's metrics that its registry prints, which its types do not say. */
export interface Printable {
  name: string;
  type: string;
  get(): Promise<object>;
}

/** Where it is told what is missing in a scrape, and why. */
interface Log {
  warn(line: object, message: string): void;
}

/** What the modules of one service count with prom-client, beside what the chassis counts. */
export class ModuleMetrics {
  readonly #added = new Map<string, Printable>();
  readonly #log: Log;
  /** Names that were warned about: a scrape comes every few seconds. */
  readonly #warned = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Has a metric of prom-client be in `/metrics` of this service.
   *
   * @throws Error when the service has another metric of this name
   */
  add(metric: Metric): void {
    const printable = metric as unknown as Printable;
    const known = this.#added.get(printable.name);
    if (known !== undefined && known !== printable) {
      throw new Error(`Expected one metric named ${printable.name}, found a second; keep the first, or rename one.`);
    }
    this.#added.set(printable.name, printable);
  }

  /**
   * The metrics of the service's modules and those of prom-client's default registry, as they are now. One whose name is
   * taken or whose `collect` fails is left out, because Prometheus would refuse the whole scrape, and warned about once.
   *
   * @param taken names of the metrics that stand in the text already
   */
  async readable(taken: ReadonlySet<string>, defaults: readonly Printable[]): Promise<Printable[]> {
    const all = new Map<string, Printable>();
    for (const metric of [...this.#added.values(), ...defaults]) {
      const { name } = metric;
      // Who calls collectDefaultMetrics gets the metrics of Node, which are there.
      if (taken.has(name)) this.#warnOnce(name, /^(nodejs|process)_/.test(name), 'the chassis has one of this name');
      else if (all.has(name)) this.#warnOnce(name, all.get(name) === metric, 'the service has two of this name');
      else all.set(name, metric);
    }
    return (await Promise.all([...all.values()].map((metric) => this.#read(metric)))).flat();
  }

  async #read(metric: Printable): Promise<Printable[]> {
    try {
      const values = await metric.get();
      return [{ name: metric.name, type: metric.type, get: async () => values }];
    } catch (error) {
      this.#warnOnce(metric.name, false, 'it could not be read', error);
      return [];
    }
  }

  #warnOnce(metric: string, isFine: boolean, reason: string, err?: unknown): void {
    if (isFine || this.#warned.has(metric)) return;
    this.#warned.add(metric);
    this.#log.warn({ metric, reason, ...(err !== undefined && { err }) }, 'metric left out of /metrics');
  }
}
