import process from 'node:process';
import { createInterface } from 'node:readline/promises';

/** Arguments that a command does not take; the process ends with code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Asks a question on the terminal; the default where the answer is empty, or where there is no terminal. */
export async function ask(question: string, fallback: string): Promise<string> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return fallback;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // As a shell has it of a program that Ctrl-C ends. Nothing has been written where a question is asked.
  terminal.once('SIGINT', () => {
    console.log();
    process.exit(130);
  });
  try {
    return (await terminal.question(`${question} (${fallback}) `)).trim() || fallback;
  } finally {
    terminal.close();
  }
}

/** Asks for a yes; no where there is no terminal. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(question, 'no'));
}

/** Rows as text in columns, with a line of headings. */
export function terminalTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
