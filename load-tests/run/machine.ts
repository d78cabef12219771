import { cpus, totalmem } from 'node:os';
import process from 'node:process';

/** What a run was made on. Runs of different machines say nothing of each other. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly node: string;
}

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  const [first] = cpus();
  return {
    processor: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
}

/** Whether times of two machines can be compared. The version of Node may differ: that is worth a comparison. */
export function isSameMachine(one: Machine, other: Machine): boolean {
  return one.processor === other.processor && one.cores === other.cores && one.memoryGiB === other.memoryGiB;
}
