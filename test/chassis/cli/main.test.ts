import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { commands } from '../../../src/chassis/cli/command-list.ts';
import { slipway as runSlipway } from '../../support/slipway-command.ts';

const directory = mkdtempSync(join(tmpdir(), 'slipway-cli-'));
afterAll(() => rmSync(directory, { recursive: true }));
const slipway = (args: string[], more: Record<string, string> = {}) =>
  runSlipway(args, { DATABASE_URL: `file:${join(directory, 'own.db')}`, ...more });

describe('slipway', () => {
  it('says on one page what it does, and of each command how to call it', async () => {
    const { stdout, code } = await slipway(['--help']);
    expect(code).toBe(0);
    for (const { name, summary } of commands)
      expect(stdout).toMatch(new RegExp(`^  ${name}\\b.* ${summary.replace(/[?.]/g, '.')}$`, 'm'));
    expect(stdout.split('\n').every((line) => line.length <= 120)).toBe(true);
    const help = await slipway(['module', '--help']);
    expect(help.stdout).toContain('slipway module product name:string price:int category:ref');
  });

  it('puts the lists of a service under load, and says what it knows', async () => {
    const { stdout, code } = await slipway(['load', 'help']);
    expect(code).toBe(0);
    expect(stdout).toContain('list-filtered-wide');
    expect(stdout).toContain('--resource products');
  });

  it.each([
    [['load', 'list-narrow'], 1, 'Expected a scenario, one of all, list-shallow'],
    [['modul'], 2, 'Did you mean module?'],
    [['routes', '--jsn'], 2, "Unknown option '--jsn'"],
    [['module'], 2, 'Expected the name of the module'],
    [['openapi', '--check', '--file', 'nowhere.json'], 1, 'Expected the document at nowhere.json'],
    [['migrate', '--create', 'No Name'], 1, 'Expected a name of lower-case words'],
  ])('answers %j with code %i and what to do', async (args, code, message) => {
    const ended = await slipway(args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });
});
