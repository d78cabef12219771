import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
export function pack(directory: string, version?: string): Promise<Packed> {
  return packCopy(directory, (copy) => {
    for (const file of repositoryFiles(
      /^(src|scripts|prisma|load-tests|docs|test\/modules|test\/support|helm\/slipway)\/|^[^/]+$/,
    )) {
      cpSync(join(root, file), join(copy, file));
    }
    if (version === undefined) return;
    const file = join(copy, 'package.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"version": "[^"]+"/, `"version": "${version}"`));
  });
}

/** Packs the repository as it was at a commit or tag. @throws Error where the clone does not reach back to it */
export function packAt(directory: string, commit: string): Promise<Packed> {
  return packCopy(directory, (copy) => {
    const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 28 });
    execFileSync('tar', ['-x', '-C', copy], { input: archive });
  });
}

async function packCopy(directory: string, fill: (copy: string) => void): Promise<Packed> {
  const copy = mkdtempSync(join(tmpdir(), 'slipway-pack-'));
  try {
    fill(copy);
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
  const foreign = /^(NODE_ENV|LOG_LEVEL|NODE_OPTIONS|INIT_CWD|BASE_URL|(TEST|VITEST|npm_(lifecycle|package))(_.*)?)$/;
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
