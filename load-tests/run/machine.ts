import { cpus, totalmem } from 'node:os';

/** The machine that this process runs on, in words. */
export function thisMachine(): string {
  const all = cpus();
  const processor = all[0]?.model.trim() ?? 'an unknown processor';
  return `${all.length} cores of ${processor}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
}
