import { setTimeout as wait } from 'node:timers/promises';
import { getRequestContext, stopAbandoned } from '../../context/request-context.ts';
import { isTransactionConflict } from '../client/transaction-errors.ts';

const firstPauseMs = 20;
const longestPauseMs = 500;

/**
 * Runs `attempt` again, `retries` times at most, after a conflict with another transaction. The pauses grow and are
 * random from nothing to their bound ("full jitter"), so that those who met do not meet again.
 *
 * @throws the conflict, after the last retry or when a pause would last until the deadline of the request
 * @throws RequestAbandonedException, ServiceUnavailableException as `stopAbandoned` does
 */
export async function withRetries<T>(
  retries: number,
  attempt: () => Promise<T>,
  isConflict: (error: unknown) => boolean = isTransactionConflict,
): Promise<T> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tried >= retries || !isConflict(error)) throw error;
      const ms = pauseMs(tried, Math.random());
      if (Date.now() + ms >= (getRequestContext()?.deadline ?? Number.POSITIVE_INFINITY)) throw error;
      stopAbandoned();
      await wait(ms);
    }
  }
}

/**
 * How long to wait before the next attempt, in milliseconds.
 *
 * @param tried how many retries came before
 * @param random from 0 to 1
 */
export function pauseMs(tried: number, random: number): number {
  return random * Math.min(longestPauseMs, firstPauseMs * 2 ** tried);
}
