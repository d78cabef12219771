import { execFile } from 'node:child_process';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const mib = 1_048_576;
/** V8 gives that much only where it has ten times more. */
const hasMemory = totalmem() > 8192 * mib;
const file = join(import.meta.dirname, '../../../src/chassis/lifecycle/young-generation.ts');
/** Makes objects of which many live on for a while, turn by turn, and prints what V8 made of the young generation. */
const program = `
import { getHeapSpaceStatistics } from 'node:v8';
import { setImmediate as turn } from 'node:timers/promises';
const { boundYoungGeneration } = await import(process.argv[1]);
if (process.argv[2] === 'bounded') boundYoungGeneration(process.env.NODE_OPTIONS);
const kept = [];
for (let round = 0; round < 600; round += 1) {
  kept[round % 100] = Array.from({ length: 30_000 }, (_, index) => ({ index }));
  await turn();
}
console.log(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);
`;

async function youngOf(kind: 'bounded' | 'unbounded', ...options: string[]): Promise<number> {
  const args = [...options, '--input-type=module', '-e', program, file, kind];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } });
  return Number(stdout) / mib;
}

describe.skipIf(!hasMemory)('the young generation (needs 8 GB of memory, or V8 keeps it small)', () => {
  it('grows to 64 MiB and no further', async () => {
    expect(await youngOf('bounded')).toBe(64);
    expect(await youngOf('unbounded')).toBeGreaterThan(64);
  });

  it('has the size that an option of Node names', async () => {
    expect(await youngOf('bounded', '--max-semi-space-size=64')).toBe(128);
  });
});
