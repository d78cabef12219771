import type { Reporter } from './chassis/index.ts';

/**
 * What hears of every exception that answers a request, and of a crash, beside the log, the metrics and Sentry: a line for
 * each, such as `monitorReporter(pager)` for faults only.
 */
export const reporters: readonly Reporter[] = [];
