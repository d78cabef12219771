import type { Reporter } from './chassis/index.ts';

/**
 * Reporters beside the log, the metrics and Sentry. Each gets every exception that answers a request, and every crash;
 * `monitorReporter(pager)` passes on faults only.
 */
export const reporters: readonly Reporter[] = [];
