import process from 'node:process';

const width = 40;

/** Draws how far something is on the terminal's error output; silent where that is no terminal. */
export function progressBar(label: string): (done: number, total: number) => void {
  if (!process.stderr.isTTY) return () => undefined;
  return (done, total) => {
    const share = total === 0 ? 1 : done / total;
    const filled = Math.round(share * width);
    const bar = `${'#'.repeat(filled)}${'.'.repeat(width - filled)}`;
    process.stderr.write(`\r${label} [${bar}] ${Math.round(share * 100)} %${share === 1 ? '\n' : ''}`);
  };
}
