import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { repositoryFiles, root } from '../house/repository.ts';

/** What is in the package, as `npm pack` tells. */
export interface Packed {
  /** Absolute path of the tarball. */
  tarball: string;
  /** Bytes of the tarball and of what it holds. */
  size: number;
  unpackedSize: number;
  files: string[];
}

/** Packs a copy of the repository, so that nothing else of this one sees it. The tarball goes into `directory`. */
export async function pack(directory: string): Promise<Packed> {
  const copy = mkdtempSync(join(tmpdir(), 'slipway-pack-'));
  try {
    for (const file of repositoryFiles(/^(src|scripts|helm\/slipway)\/|^[^/]+$/))
      cpSync(join(root, file), join(copy, file));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', directory], copy);
    const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as (Omit<Packed, 'files' | 'tarball'> & {
      filename: string;
      files: { path: string }[];
    })[];
    if (!packed) throw new Error(`Expected a package, got ${stdout}`);
    const { filename, size, unpackedSize, files } = packed;
    return { tarball: join(directory, filename), size, unpackedSize, files: files.map(({ path }) => path) };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Runs a program as a person does in a terminal, without what tests set. Its error carries what it printed. */
export async function run(program: string, args: string[], cwd: string) {
  // What vitest and `npm run` set would be taken for settings of the service.
  const foreign = /^(NODE_ENV|LOG_LEVEL|NODE_OPTIONS|INIT_CWD|(TEST|VITEST|npm_(lifecycle|package))(_.*)?)$/;
  const own = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const env = { ...Object.fromEntries(own), NO_COLOR: '1' };
  try {
    return await promisify(execFile)(program, args, { cwd, env, maxBuffer: 2 ** 26 });
  } catch (error) {
    const { stdout, stderr, message } = error as { stdout?: string; stderr?: string; message: string };
    const said = `${message}\n${stdout}\n${stderr}`.split('\n').filter((line) => !line.startsWith('npm warn'));
    throw new Error(said.join('\n'), { cause: error });
  }
}
