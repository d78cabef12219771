import { Router } from 'express';
import { logger } from '../telemetry/logger.ts';
import { loadFailures } from './start-up-report.ts';

/** A named condition for readiness: resolves when it holds, rejects with the reason when it does not. */
export type HealthCheck = () => Promise<unknown>;

const checkTimeoutMs = 1000;
const cacheMs = 1000;
const checks = new Map<string, HealthCheck>();
let last: { at: number; result: Promise<Readiness> } | undefined;

type CheckOutcome = 'ok' | 'failed' | 'timed out' | 'failed to load';

/** Whether the service can take requests, and what each check says. Reasons stay in the log: probes may be public. */
export interface Readiness {
  ready: boolean;
  checks: Record<string, CheckOutcome>;
}

/** Adds a condition for readiness; a check of the same name is replaced. */
export function addHealthCheck(name: string, check: HealthCheck): void {
  checks.set(name, check);
  last = undefined;
}

/** Removes all checks, so that the next start begins anew. */
export function resetHealthChecks(): void {
  checks.clear();
  last = undefined;
}

/** Runs all checks side by side, each for at most a second; one answer serves everybody who asks within a second. */
export function readiness(): Promise<Readiness> {
  const now = performance.now();
  if (!last || now - last.at > cacheMs) last = { at: now, result: runChecks() };
  return last.result;
}

async function runChecks(): Promise<Readiness> {
  const outcomes = await Promise.all(
    [...checks].map(async ([name, check]) => [name, await outcome(name, check)] as const),
  );
  const entries = [
    ...loadFailures().map(({ module, file }) => [`${module}/${file}`, 'failed to load'] as const),
    ...outcomes,
  ];
  return { ready: entries.every(([, result]) => result === 'ok'), checks: Object.fromEntries(entries) };
}

async function outcome(name: string, check: HealthCheck): Promise<CheckOutcome> {
  const { promise: timeout, resolve } = Promise.withResolvers<CheckOutcome>();
  const timer = setTimeout(() => resolve('timed out'), checkTimeoutMs);
  try {
    return await Promise.race([check().then(() => 'ok' as const), timeout]);
  } catch (error) {
    logger().warn({ err: error, check: name }, 'health check failed');
    return 'failed';
  } finally {
    clearTimeout(timer);
  }
}

/** `/livez` (the process answers) and `/readyz` (it can take requests, else 503 and which check says no). */
export function healthRoutes(): Router {
  const router = Router();
  router.get('/livez', (_request, response) => {
    response.json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    const { ready, checks: outcomes } = await readiness();
    response.status(ready ? 200 : 503).json({ status: ready ? 'ok' : 'unavailable', checks: outcomes });
  });
  return router;
}
