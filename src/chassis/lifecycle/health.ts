import { Router } from 'express';
import { logger } from '../telemetry/logger.ts';
import { loadFailures } from './start-up-report.ts';

/**
 * A named condition for readiness: resolves when it holds, rejects with the reason when it does not. It counts as failed
 * after a second, when `signal` is aborted; it is asked again once the last call has ended.
 */
export type HealthCheck = (signal: AbortSignal) => Promise<unknown>;

/** Where a service is in its life; only a serving one is ready. */
export type Phase = 'starting' | 'serving' | 'shutting down';

type CheckOutcome = 'ok' | 'failed' | 'timed out';

/** Whether the service can take requests, and what each check says. Reasons stay in the log: probes may be public. */
export interface Readiness {
  ready: boolean;
  checks: Record<string, CheckOutcome | 'failed to load' | Phase>;
}

interface KnownCheck {
  check: HealthCheck;
  /** The call that is under way; its result is shared, so that a hanging check is never called twice. */
  pending?: Promise<CheckOutcome> | undefined;
  last?: CheckOutcome;
}

const checkTimeoutMs = 1000;
const cacheMs = 1000;
const checks = new Map<string, KnownCheck>();
let phase: Phase = 'starting';
let last: { at: number; result: Promise<Readiness> } | undefined;

/** Adds a condition for readiness; a check of the same name is replaced. */
export function addHealthCheck(name: string, check: HealthCheck): void {
  checks.set(name, { check });
  last = undefined;
}

/** Removes all checks and goes back to `starting`, so that the next start begins anew. */
export function resetHealthChecks(): void {
  checks.clear();
  enterPhase('starting');
}

/** Says where the service is in its life, which readiness tells from the next moment on. */
export function enterPhase(next: Phase): void {
  phase = next;
  last = undefined;
}

/**
 * Runs all checks side by side, each for at most a second; one answer serves everybody who asks within a second, so that
 * the work stays the same however often probes come. Before the service serves, and once it shuts down, it runs none.
 */
export function readiness(): Promise<Readiness> {
  if (phase !== 'serving') return Promise.resolve({ ready: false, checks: { service: phase } });
  const now = performance.now();
  if (!last || now - last.at > cacheMs) last = { at: now, result: runChecks() };
  return last.result;
}

async function runChecks(): Promise<Readiness> {
  const failures = loadFailures().map(({ module, file }) => [`${module}/${file}`, 'failed to load'] as const);
  const outcomes = await Promise.all([...checks].map(async ([name, known]) => [name, await ask(name, known)] as const));
  const entries = [...failures, ...outcomes];
  return { ready: entries.every(([, result]) => result === 'ok'), checks: Object.fromEntries(entries) };
}

async function ask(name: string, known: KnownCheck): Promise<CheckOutcome> {
  const { promise: late, resolve } = Promise.withResolvers<CheckOutcome>();
  const abort = new AbortController();
  const timer = setTimeout(() => {
    resolve('timed out');
    abort.abort();
  }, checkTimeoutMs);
  known.pending ??= call(name, known, abort.signal).finally(() => {
    known.pending = undefined;
  });
  const outcome = await Promise.race([known.pending, late]);
  clearTimeout(timer);
  // The line is written when something changes, not at each probe.
  if (outcome === 'timed out' && known.last !== outcome) logger().warn({ check: name }, 'health check timed out');
  if (outcome === 'ok' && known.last && known.last !== 'ok') logger().info({ check: name }, 'health check holds again');
  known.last = outcome;
  return outcome;
}

async function call(name: string, known: KnownCheck, signal: AbortSignal): Promise<CheckOutcome> {
  try {
    await known.check(signal);
    return 'ok';
  } catch (error) {
    if (known.last !== 'failed') logger().warn({ err: error, check: name }, 'health check failed');
    return 'failed';
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
