import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { join, relative, sep } from 'node:path';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** After it a start is over, and V8 has not yet let go of the code of functions that only a start calls. */
const startMs = 10_000;
/** As many as V8 wants what follows to be aligned by. */
const checksumBytes = 8;

interface Loaded {
  readonly script: Script;
  /** Of its source. */
  readonly sum: number;
}

/**
 * The scripts of a build, with what earlier starts compiled of them. Node's own cache holds a file as it was before it ran, so
 * that functions, which are compiled when they are first called, are compiled at each start: a fifth of its work. Here they
 * are kept with the rest, in a directory of that cache, by whoever loads a script that is not in it yet.
 */
export class CompiledScripts {
  readonly #root: string;
  readonly #directory: string | undefined;
  /** What is to be kept: a start keeps all, because they hold more after it; then only what is not in the cache. */
  readonly #loaded = new Map<string, Loaded>();
  #isComplete = true;
  #isStarting = true;

  /**
   * @param root absolute path of the build
   * @param cache absolute path of the directory of Node's cache where NODE_COMPILE_CACHE names none
   */
  constructor(root: string, cache: string) {
    enableCompileCache(cache);
    // One for each version of Node, processor and user; none with NODE_DISABLE_COMPILE_CACHE.
    const directory = getCompileCacheDir();
    this.#root = root;
    this.#directory = directory && join(directory, `build-${crc32(root).toString(16)}`);
    setTimeout(() => this.#keepOneATurn(this.#keep()), startMs).unref();
    process.once('exit', () => Array.from(this.#keep()));
  }

  /**
   * Compiles a file of the build, or takes what was compiled of it.
   *
   * @param filename absolute path
   * @param head what stands before its text, in the first line
   * @param tail what stands behind it
   */
  script(filename: string, head: string, tail: string): Script {
    const source = readFileSync(filename);
    const sum = crc32(source);
    const name = relative(this.#root, filename).replaceAll(sep, '+');
    const cachedData = this.#directory === undefined ? undefined : keptIn(join(this.#directory, name), sum);
    const script = new Script(`${head}${source}${tail}`, { filename, columnOffset: -head.length, cachedData });
    // Refused where it was kept by a Node with other flags.
    const isKept = cachedData !== undefined && script.cachedDataRejected !== true;
    if (this.#isStarting || !isKept) this.#loaded.set(name, { script, sum });
    this.#isComplete &&= isKept;
    return script;
  }

  /**
   * Once more with all of them where one is missing: by now they hold more, as that of a start after that of a migration; what
   * is loaded later is kept by itself. Gives the name of each that is kept. Where there is no place for them the next start
   * takes as long as this one.
   */
  *#keep(): Generator<string> {
    const directory = this.#directory;
    if (this.#isComplete || directory === undefined || !isWritable(join(directory, '..'))) return;
    this.#isComplete = true;
    // Others start beside this one, and in containers they have the same number.
    const unfinished = join(directory, randomUUID());
    try {
      mkdirSync(directory, { recursive: true });
      for (const [name, loaded] of this.#loaded) {
        // V8 refuses what was kept under other flags than those of a start, and lifecycle/young-generation.ts changes one.
        setFlagsFromString('--semi-space-growth-factor=2');
        const compiled = loaded.script.createCachedData();
        writeFileSync(unfinished, Buffer.concat([checksum(compiled, loaded.sum), compiled]));
        renameSync(unfinished, join(directory, name));
        yield name;
      }
    } catch (error) {
      process.emitWarning(`What was compiled of the build is not kept: ${String(error)}`);
      remove(unfinished);
    }
  }

  /** All at once would take a tenth of a second, in which nobody is answered. */
  #keepOneATurn(keeping: Generator<string>): void {
    if (!keeping.next().done) {
      setImmediate(() => this.#keepOneATurn(keeping));
      return;
    }
    this.#isStarting = false;
    // They hold what V8 may let go of.
    this.#loaded.clear();
  }
}

/** V8 runs what it is given, also of a source that has changed, as long as before, or where a disk lost a part of it. */
function keptIn(file: string, sumOfSource: number): Buffer | undefined {
  const kept = readable(file);
  if (!kept) return undefined;
  const compiled = kept.subarray(checksumBytes);
  return kept.subarray(0, checksumBytes).equals(checksum(compiled, sumOfSource)) ? compiled : undefined;
}

/** What cannot be read is compiled anew. */
function readable(file: string): Buffer | undefined {
  try {
    return existsSync(file) ? readFileSync(file) : undefined;
  } catch (error) {
    process.emitWarning(`What was compiled of the build cannot be read: ${String(error)}`);
    return undefined;
  }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch (error) {
    process.emitWarning(`${file} cannot be removed: ${String(error)}`);
  }
}

/** Of the source and of what was compiled of it. */
function checksum(compiled: Buffer, sumOfSource: number): Buffer {
  const sum = Buffer.alloc(checksumBytes);
  sum.writeUInt32LE(crc32(compiled, sumOfSource));
  return sum;
}

/** An image has its cache for reading. */
function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
