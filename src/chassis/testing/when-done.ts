import { afterAll, onTestFinished, TestRunner } from 'vitest';

/** Runs `clean` after the test that calls this, or after all tests of the file where no test runs yet. */
export function whenDone(clean: () => unknown): void {
  if (TestRunner.getCurrentTest()) onTestFinished(async () => void (await clean()));
  else afterAll(async () => void (await clean()));
}
