import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allOrNothing, writeFiles } from '../../../src/chassis/cli/file-changes.ts';

/** A service with one file that a generation changes. */
function aService(): string {
  const root = mkdtempSync(join(tmpdir(), 'slipway-changes-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'src/modules'), { recursive: true });
  writeFileSync(join(root, 'src/app.config.ts'), 'before');
  return root;
}

/** Changes the file, adds another one, and stops half-way. */
function generateHalf(root: string): void {
  writeFileSync(join(root, 'src/app.config.ts'), 'after');
  mkdirSync(join(root, 'src/modules/lamp'));
  writeFileSync(join(root, 'src/modules/lamp/di.ts'), 'new');
}

function expectAsBefore(root: string): void {
  expect(readFileSync(join(root, 'src/app.config.ts'), 'utf8')).toBe('before');
  expect(existsSync(join(root, 'src/modules/lamp'))).toBe(false);
  expect(readdirSync(join(root, 'src'))).toEqual(['app.config.ts']);
}

describe('a generation', () => {
  it('that fails leaves the files of the service as they were', async () => {
    const root = aService();
    let undone = 0;
    const failing = allOrNothing(
      root,
      async () => {
        generateHalf(root);
        throw new Error('half-way');
      },
      () => (undone += 1),
    );
    await expect(failing).rejects.toThrow('half-way');
    expectAsBefore(root);
    expect(undone).toBe(1);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('that %s ends half-way leaves them as they were, with the code of the signal', async (signal, code) => {
    const root = aService();
    const program = `
      import { mkdirSync, writeFileSync } from 'node:fs';
      import { join } from 'node:path';
      import { allOrNothing, writeFiles } from '${join(import.meta.dirname, '../../../src/chassis/cli/file-changes.ts')}';
      ${generateHalf.toString()}
      await allOrNothing('${root}', async () => {
        generateHalf('${root}');
        console.log('half-way');
        setInterval(() => undefined, 60_000);
        await new Promise(() => undefined);
      }, () => undefined);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await once(child.stdout, 'data');
    child.kill(signal);
    expect((await once(child, 'close'))[0], said).toBe(code);
    expect(said).toContain(`Ended by ${signal}; nothing is changed.`);
    expectAsBefore(root);
  });
});

describe('the files of a new service', () => {
  it('are for everybody to read, but for those with secrets', () => {
    const root = aService();
    writeFiles(root, { '.env': 'AUTH_TOKEN=secret', 'src/modules/lamp/di.ts': 'new' });
    const mode = (file: string) => statSync(join(root, file)).mode & 0o777;
    expect(mode('.env')).toBe(0o600);
    expect(mode('src/modules/lamp/di.ts')).toBe(0o666 & ~process.umask());
  });
});
