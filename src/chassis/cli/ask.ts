import process from 'node:process';
import { createInterface } from 'node:readline/promises';

/** Asks a question on the terminal; the default where the answer is empty, or where there is no terminal. */
export async function ask(question: string, fallback: string): Promise<string> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return fallback;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
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
