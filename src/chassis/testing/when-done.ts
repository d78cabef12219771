import { afterAll, onTestFinished, TestRunner } from 'vitest';

type Step = () => Promise<void>;

/** What hooks have left to the end of their file; none while a file is still being collected, when vitest takes it itself. */
let ofHooks: Step[] | undefined;

/** Runs `clean` after the test that calls this, or after all tests of the file where a hook or its top calls it. */
export function whenDone(clean: () => unknown): void {
  const step = async () => void (await clean());
  if (TestRunner.getCurrentTest()) onTestFinished(step);
  else if (ofHooks) ofHooks.push(step);
  else afterAll(step);
}

/** Before the first hook of a file: vitest hears no `afterAll` that a hook calls. */
export function beginHooks(): void {
  ofHooks = [];
}

/** After the last hook of a file: does what hooks have left, the latest first, all of it. @throws the first error of a step */
export async function endHooks(): Promise<void> {
  const results = [];
  for (const step of ofHooks?.reverse() ?? []) results.push(...(await Promise.allSettled([step()])));
  ofHooks = undefined;
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
