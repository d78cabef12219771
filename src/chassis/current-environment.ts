import type { Environment } from './config/environment.ts';
import { currentService } from './context/current-service.ts';
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
