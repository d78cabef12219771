import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What the heap holds once nothing is left to be collected, in bytes. */
export function heapInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
