import { PerformanceObserver } from 'node:perf_hooks';
import process from 'node:process';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Of both halves of it. Twice as much saved wide lists a twentieth of their CPU, and other requests nothing measurable. */
const mostBytes = 64 * 1024 * 1024;
/** How many times as large it is after it grew, where nothing is said: bundle/compiled-scripts.ts has it too. 1 holds it. */
const usualGrowth = 2;

/**
 * Holds the young generation of V8, where new objects are made, at 64 MiB. V8 takes twice as much for it where the machine
 * has memory to spare, and gives nothing back while requests come. Where an option of Node names a size, that holds.
 *
 * @param nodeOptions those that the environment gives Node, as in NODE_OPTIONS
 */
export function boundYoungGeneration(nodeOptions = ''): void {
  if ([nodeOptions, ...process.execArgv].some((option) => option.includes('-semi-space-size'))) return;
  new PerformanceObserver(() => {
    const size = sizeOfYoung();
    if (size >= mostBytes) growBy(1);
    // Of an idle process V8 makes it small again, and then it has to grow once more; for a moment it may have given back half.
    else if (size <= mostBytes / 4) growBy(usualGrowth);
  }).observe({ entryTypes: ['gc'] });
  // Code that Node keeps is refused by a start with other flags.
  process.on('exit', () => growBy(usualGrowth));
}

function growBy(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

function sizeOfYoung(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0;
}
