import { afterAll, onTestFinished, TestRunner } from 'vitest';

/** Runs `clean` after the test that calls this, or after all tests of the file where no test runs yet. Not for hooks, whose ends no one would hear. */
export function whenDone(clean: () => unknown): void {
  if (TestRunner.getCurrentTest()) onTestFinished(async () => void (await clean()));
  else afterAll(async () => void (await clean()));
}
