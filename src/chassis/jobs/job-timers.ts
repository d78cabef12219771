import { setTimeout as wait } from 'node:timers/promises';
import { runOutsideRequest } from '../context/request-context.ts';
import type { JobPlan } from './job-plan.ts';

/** What is done when a job is due. */
export type WhenDue = (plan: JobPlan, due: number) => Promise<unknown>;

/** Node fires a timer that is set for longer at once. */
const longestTimerMs = 2_147_483_647;

/** Waits until a moment, in milliseconds since 1970; less long once the signal is aborted. */
export async function waitUntil(moment: number, signal: AbortSignal): Promise<void> {
  for (let left = moment - Date.now(); left > 0 && !signal.aborted; left = moment - Date.now()) {
    // Unlike a listener of its own, this one is gone with the wait.
    await wait(Math.min(left, longestTimerMs), undefined, { signal }).catch(() => undefined);
  }
}

/** Calls for each job that is due by the clock. */
export class JobTimers {
  readonly #whenDue: WhenDue;
  readonly #timers = new Map<JobPlan, NodeJS.Timeout>();

  /** @param whenDue is called with the job and the moment at which it was due; it must not reject */
  constructor(whenDue: WhenDue) {
    this.#whenDue = whenDue;
  }

  /** Begins to watch the clock. */
  start(plans: readonly JobPlan[]): void {
    runOutsideRequest(() => {
      for (const plan of plans) this.#set(plan, Date.now());
    });
  }

  /** Calls for nothing any more. */
  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #set(plan: JobPlan, after: number): void {
    const due = plan.schedule?.next(after);
    if (due === undefined) return;
    const left = Math.max(0, due - Date.now());
    const ring = () => {
      if (left > longestTimerMs) return this.#set(plan, after);
      // A process that was suspended skips the runs that it missed.
      this.#set(plan, Math.max(due, Date.now()));
      void this.#whenDue(plan, due);
    };
    this.#timers.set(plan, setTimeout(ring, Math.min(left, longestTimerMs)));
  }
}
