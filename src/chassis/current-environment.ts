import process from 'node:process';
import type { Metric } from 'prom-client';
import type { Environment } from './config/environment.ts';
import { currentService, findService, openServices } from './context/current-service.ts';
import { getRequestContext } from './context/request-context.ts';
import type { HealthCheck } from './lifecycle/health.ts';

/** The settings of the current service. @throws Error outside of one */
export function environment(): Environment {
  return currentService().settings;
}

/**
 * Adds a condition for the readiness of the current service, in which it is asked; a check of the same name is replaced.
 *
 * @throws Error outside of a service
 */
export function addHealthCheck(name: string, check: HealthCheck): void {
  const service = currentService();
  service.health.add(name, (signal) => service.run(() => check(signal)));
}

/**
 * Masks more fields in every log line of the current service, and parameters of these names in every logged URL: those
 * that are secret or personal in a module, e.g. `maskInLogs('iban', 'phone')`. Upper and lower case are the same.
 *
 * @throws Error outside of a service
 */
export function maskInLogs(...names: string[]): void {
  currentService().masks.add(...names);
}

/**
 * Adds a metric of prom-client to `/metrics` of the current service, and of no other of the process; for
 * `registerDependencies`:
 *
 * `const orders = registerMetric(new Counter({ name: 'orders_total', help: 'Orders placed.', registers: [] }))`
 *
 * Without `registers: []` a metric is in prom-client's default registry, which the process has one of: all its services
 * show it, and none of this is needed. Its label combinations are not bounded by METRICS_SERIES_LIMIT.
 *
 * @returns the metric
 * @throws Error outside of a service, and when the service has another metric of this name
 */
export function registerMetric<M extends Metric>(metric: M): M {
  currentService().metrics.modules.add(metric);
  return metric;
}

/**
 * Reports an error that answers no request, such as that of a timer or of a consumer of messages, as a fault: a line of the
 * log at level error, an event for the monitor whatever `isOperational` says, and `errors_reported_total`. Within a request
 * it carries that request. What belongs to no service that is known is reported by the first that was started. Never throws.
 *
 * @param context what else is to be known, e.g. `{ job: 'expire-drafts' }`; values under a secret's name are masked
 */
export function reportError(error: unknown, context?: Readonly<Record<string, unknown>>): void {
  const service = findService() ?? openServices()[0];
  if (service) service.errors.report(error, getRequestContext(), context);
  else process.emitWarning(error instanceof Error ? error : String(error));
}
