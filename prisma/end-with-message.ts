import process from 'node:process';

/** Ends a command line program that failed: says why, without a stack, and gives the shell status 1. */
export function endWithMessage(error: unknown): void {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
