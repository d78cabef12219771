import { openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** Longer than what the kernel tells of a control group; the line that is asked for stands among the first. */
const mostBytes = 8192;

/**
 * What the kernel holds for the sockets of a container: what came in and was not read, and what was sent and not taken. With
 * version 2 of control groups it counts to the limit of the container, and a client that reads nothing has the kernel keep up
 * to 4 MB for each of its connections.
 */
export class SocketMemory {
  readonly #told: number | undefined;
  readonly #text = Buffer.alloc(mostBytes);

  /**
   * @param groups the directory of all control groups
   * @param own the file that names the one of this process
   */
  constructor(groups = '/sys/fs/cgroup', own = '/proc/self/cgroup') {
    const group = limitedGroup(groups, own);
    this.#told = group === undefined ? undefined : openSync(join(group, 'memory.stat'), 'r');
  }

  /** In bytes; 0 where it counts to no limit. */
  get bytes(): number {
    if (this.#told === undefined) return 0;
    const told = this.#text.toString('latin1', 0, readSync(this.#told, this.#text, 0, mostBytes, 0));
    return Number(/^sock (\d+)$/m.exec(told)?.[1] ?? 0);
  }
}

/** The directory of the own group, as far as it has a limit of version 2. A container sees its group as the first of all. */
function limitedGroup(groups: string, own: string): string | undefined {
  try {
    const path = /^0::(.*)$/m.exec(readFileSync(own, 'latin1'))?.[1];
    if (path === undefined) return undefined;
    const group = join(groups, path);
    return readFileSync(join(group, 'memory.max'), 'latin1').trim() === 'max' ? undefined : group;
  } catch {
    // There is no /proc, or no control group of version 2 that counts memory.
    return undefined;
  }
}
