import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';

const cli = join(import.meta.dirname, '../../../../src/chassis/cli/main.ts');
/** Runs a command at a terminal of its own, with util-linux; other systems have another program of the name. */
const script = process.platform === 'linux' ? '/usr/bin/script' : '';

function emptyDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-questions-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Makes a service of a package that is not installed; what a start needs of it is not asked for. */
const parameters = ['new', 'shop', '--no-install', '--package', '^1.0.0'];

/** `slipway new` at a terminal, which a person answers. */
class Dialogue {
  readonly directory = emptyDirectory();
  readonly #child: ChildProcess;
  shown = '';

  constructor(...more: string[]) {
    const command = [process.execPath, cli, ...parameters, ...more].map((part) => `'${part}'`).join(' ');
    const env = { PATH: process.env['PATH'], SHELL: '/bin/sh', NO_COLOR: '1' };
    this.#child = spawn(script, ['-qec', command, '/dev/null'], { cwd: this.directory, env });
    onTestFinished(() => void this.#child.kill('SIGKILL'));
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.shown += text;
    });
  }

  /** Waits for a question and answers it. */
  async answer(question: string, keys: string): Promise<void> {
    await expect.poll(() => this.shown, { interval: 20, timeout: 30_000 }).toContain(question);
    this.#child.stdin?.write(keys);
  }

  async ended(): Promise<number> {
    const [code] = await once(this.#child, 'close');
    return code;
  }

  read(file: string): string {
    return readFileSync(join(this.directory, 'shop', file), 'utf8');
  }
}

const questions = [
  'Name of the service (shop)',
  'Databases, both or postgresql (both)',
  'Who may call, token, api-keys, issuer or none (token)',
  'A module to begin with (yes)',
] as const;

describe.skipIf(!existsSync(script))('slipway new at a terminal', () => {
  it('asks what is not given, and takes what it offers for an empty answer', async () => {
    const dialogue = new Dialogue();
    for (const question of questions) await dialogue.answer(question, '\n');
    expect(await dialogue.ended(), dialogue.shown).toBe(0);
    expect(readdirSync(dialogue.directory)).toEqual(['shop']);
    expect(JSON.parse(dialogue.read('package.json')).name).toBe('shop');
    expect(dialogue.read('prisma/models.prisma')).toMatch(/model Category/);
    expect(dialogue.read('src/modules/auth/di.ts')).toContain('fixedToken');
  });

  it('makes what was answered', async () => {
    const dialogue = new Dialogue();
    const answers = ['lantern\n', 'postgresql\n', 'none\n', 'no\n'];
    for (const [index, question] of questions.entries()) await dialogue.answer(question, answers[index] ?? '');
    expect(await dialogue.ended(), dialogue.shown).toBe(0);
    expect(JSON.parse(dialogue.read('package.json')).name).toBe('lantern');
    expect(dialogue.read('prisma/models.prisma')).toMatch(/provider = "postgresql"/);
    expect(existsSync(join(dialogue.directory, 'shop/src/modules/auth'))).toBe(false);
    expect(dialogue.read('prisma/models.prisma')).not.toMatch(/^model Category/m);
  });

  it('asks for nothing that a flag says', async () => {
    const dialogue = new Dialogue('--name', 'lamps', '--auth', 'none');
    for (const question of [questions[1], questions[3]]) await dialogue.answer(question, '\n');
    expect(await dialogue.ended(), dialogue.shown).toBe(0);
    expect(dialogue.shown).not.toContain('Name of the service');
    expect(dialogue.shown).not.toContain('Who may call');
  });

  it('refuses an answer with what it expects, with code 2, and leaves nothing', async () => {
    const dialogue = new Dialogue();
    await dialogue.answer(questions[0], 'My Shop\n');
    expect(await dialogue.ended()).toBe(2);
    expect(dialogue.shown).toContain('Expected a name of lower-case letters, digits and "-", got "My Shop"');
    expect(readdirSync(dialogue.directory)).toEqual([]);
  });

  it.each([
    ['Ctrl-C', '\u0003', 130],
    ['Ctrl-D', '\u0004', 1],
  ])('ends at %s and leaves nothing', async (_name, key, code) => {
    const dialogue = new Dialogue();
    await dialogue.answer(questions[0], '\n');
    await dialogue.answer(questions[1], key);
    expect(await dialogue.ended()).toBe(code);
    expect(readdirSync(dialogue.directory)).toEqual([]);
  });
});

describe('slipway new', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('that %s ends while it writes leaves nothing', async (signal) => {
    const directory = emptyDirectory();
    const child = spawn(process.execPath, [cli, ...parameters, '--yes'], { cwd: directory, stdio: 'ignore' });
    // What it writes is in a directory of another name until it is whole.
    const watcher = watch(directory, () => child.kill(signal));
    const [code] = await once(child, 'close');
    watcher.close();
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(readdirSync(directory)).toEqual([]);
  });
});
