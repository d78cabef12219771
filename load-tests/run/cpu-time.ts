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
  const all = allStats();
  const service = all.find(({ pid }) => pid === servicePid);
  if (!service) return undefined;
  const servers = all.filter(({ name, parent }) => name === 'postgres' && parent === process.pid);
  return {
    service: service.own * millisecondsPerTick,
    database: timeWithChildren(all, servers),
    memory: memoryOf(servicePid),
  };
}

/** Milliseconds of CPU that a process and its children have used, such as a PostgreSQL with its backends; 0 where there is no /proc. */
export function readProcessTime(pid: number): number {
  const all = allStats();
  return timeWithChildren(
    all,
    all.filter((one) => one.pid === pid),
  );
}

function timeWithChildren(all: readonly Stat[], parents: readonly Stat[]): number {
  const children = all.filter(({ parent }) => parents.some(({ pid }) => pid === parent));
  const ticks = [...parents.map(({ own, ended }) => own + ended), ...children.map(({ own }) => own)];
  return ticks.reduce((sum, tick) => sum + tick, 0) * millisecondsPerTick;
}

function allStats(): Stat[] {
  if (!existsSync('/proc/self/stat')) return [];
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readStat(Number(name)) : []));
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
