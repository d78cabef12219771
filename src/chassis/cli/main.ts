#!/usr/bin/env node
/** The program `slipway`. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

import { withEnvFile } from '../config/environment.ts';
import { sourceExtension, sourcesDirectory } from '../config/layout.ts';
import { nearMisses } from '../errors/near-misses.ts';
import { commands } from './command-list.ts';
import { UsageError } from './terminal.ts';
import { usage, usageOf } from './usage.ts';

async function main([name = '--help', ...args]: string[]): Promise<void> {
  if (name === '--help' || name === '-h' || name === 'help') return console.log(usage(version()));
  if (name === '--version' || name === '-v') return console.log(version());
  const command = commands.find((candidate) => candidate.name === name);
  if (!command) throw new UsageError(unknownCommand(name));
  if (args.includes('--help') || args.includes('-h')) return console.log(usageOf(command));
  if (command.ofService) requireService();
  const run = await command.load();
  await run(args, withEnvFile(process.env));
}

/** @throws Error where the working directory is not that of a service */
function requireService(): void {
  const file = join(sourcesDirectory, `app.config${sourceExtension}`);
  if (existsSync(file)) return;
  throw new Error(`Expected ${file}, found nothing; run this in the directory of a service.`);
}

function unknownCommand(name: string): string {
  const names = commands.map((command) => command.name);
  const near = nearMisses(name, names);
  const meant = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
  return `Expected a command, one of ${names.join(', ')}; got "${name}".${meant}`;
}

function version(): string {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')).version;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isUsage =
    error instanceof UsageError || String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
  console.error(error instanceof Error ? error.message : error);
  if (isUsage) console.error('"slipway --help" tells what it knows.');
  process.exitCode = isUsage ? 2 : 1;
}
