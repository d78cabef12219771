import { collectDefaultMetrics, Registry } from 'prom-client';

/** How often the event loop's delay is measured, in milliseconds; each measurement wakes the process. */
const eventLoopPrecisionMs = 100;
const delays = ['min', 'max', 'mean', 'p50', 'p90', 'p99'].map((part) => `nodejs_eventloop_lag_${part}_seconds`);
/** Gauges whose names end as those of counters do; the metrics by type that stand beside them say the same. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

let registry: Registry | undefined;

/**
 * prom-client's metrics of the process and of Node. They watch from the first call on and for as long as the process
 * lives: one process has one set, however often a service starts in it.
 */
export function processMetrics(): Registry {
  if (registry) return registry;
  registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopPrecisionMs });
  for (const name of misnamed) registry.removeSingleMetric(name);
  for (const name of delays) subtractPrecision(registry, name);
  return registry;
}

/** Node counts the interval between two measurements as delay: an idle loop would be a tenth of a second late. */
function subtractPrecision(from: Registry, name: string): void {
  const gauge = from.getSingleMetric(name);
  if (!gauge) return;
  const get = gauge.get.bind(gauge);
  gauge.get = async () => {
    const measured = await get();
    return { ...measured, values: measured.values.map((line) => ({ ...line, value: delay(line.value) })) };
  };
}

/** 0 too where nothing was measured, for which Node has a number of its own. */
function delay(seconds: number): number {
  const late = seconds - eventLoopPrecisionMs / 1000;
  return late > 0 && late < Number.MAX_SAFE_INTEGER / 1e9 ? late : 0;
}
