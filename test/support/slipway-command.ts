import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');

/** Runs `slipway` on this repository, with these variables and no others. */
export async function slipway(args: string[], env: Record<string, string>) {
  const program = [join(root, 'src/chassis/cli/main.ts'), ...args];
  const options = { cwd: root, env: { PATH: process.env.PATH, NO_COLOR: '1', ...env } };
  const ended = promisify(execFile)(process.execPath, program, options).then((out) => ({ ...out, code: 0 }));
  return ended.catch((error: { code: number; stdout: string; stderr: string }) => error);
}
