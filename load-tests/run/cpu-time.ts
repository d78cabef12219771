import { existsSync, readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';

/** What processes have used since they started. */
export interface CpuTime {
  /** Milliseconds of CPU of the service. */
  readonly service: number;
  /** Milliseconds of CPU of PostgreSQL, where it was started beside the service. */
  readonly database: number;
  /** Resident memory of the service, in MiB. */
  readonly memory: number;
}

interface Stat {
  pid: number;
  name: string;
  parent: number;
  /** Ticks of the process, and of its children that have ended. */
  own: number;
  ended: number;
}

/** Linux counts CPU time in hundredths of a second, whatever the kernel's own clock does. */
const millisecondsPerTick = 10;

/**
 * Reads what a service that this process started has used, and the PostgreSQL beside it. Other than times of requests
 * this is the same on a busy machine, so it says how much one core can do. Undefined where there is no /proc.
 */
export function readCpuTime(servicePid: number): CpuTime | undefined {
  if (!existsSync('/proc/self/stat')) return undefined;
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readStat(Number(name)) : []));
  const service = all.find(({ pid }) => pid === servicePid);
  if (!service) return undefined;
  const servers = all.filter(({ name, parent }) => name === 'postgres' && parent === process.pid);
  const backends = all.filter(({ parent }) => servers.some(({ pid }) => pid === parent));
  const ticks = [...servers.map(({ own, ended }) => own + ended), ...backends.map(({ own }) => own)];
  return {
    service: service.own * millisecondsPerTick,
    database: ticks.reduce((sum, tick) => sum + tick, 0) * millisecondsPerTick,
    memory: memoryOf(servicePid),
  };
}

/** A process may end while it is read. */
function readStat(pid: number): Stat[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // A name may have blanks and brackets; the last one ends it.
    const [name, rest] = [
      text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
      text.slice(text.lastIndexOf(')') + 2),
    ];
    const [, parent = 0, ...fields] = rest.split(' ').map(Number);
    const [own, ended] = [(fields[9] ?? 0) + (fields[10] ?? 0), (fields[11] ?? 0) + (fields[12] ?? 0)];
    return [{ pid, name, parent, own, ended }];
  } catch {
    return [];
  }
}

function memoryOf(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}
