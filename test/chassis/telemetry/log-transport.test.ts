import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startLogTransport } from '../../../src/chassis/telemetry/log-transport.ts';
import { memoryLog } from '../http/bare-app.ts';

const directory = mkdtempSync(join(tmpdir(), 'slipway-transport-'));
afterAll(() => rmSync(directory, { recursive: true }));

function moduleOf(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const toFile = moduleOf(
  'to-file.mjs',
  "import { createWriteStream } from 'node:fs';\nexport default async ({ path }) => createWriteStream(path);",
);

describe('a log transport', () => {
  it('gets every line beside the destination, masked, and all of them before the end', async () => {
    const { logger, lines } = memoryLog('info');
    const path = join(directory, 'lines.log');
    const stop = await startLogTransport(logger, toFile, { path });
    for (let index = 0; index < 500; index += 1) logger.child({ index }).info({ token: 'hidden' }, 'a line');
    await stop();
    logger.info('after the end');
    const carried = readFileSync(path, 'utf8').trim().split('\n');
    expect(carried.map((line) => JSON.parse(line))).toEqual(lines.slice(0, 500));
    expect(carried[499]).toContain('"token":"[redacted]"');
  });

  it('that fails is given up with a line, and the log goes on', async () => {
    const { logger, lines } = memoryLog('info');
    const stop = await startLogTransport(logger, toFile, { path: '/nowhere/lines.log' });
    logger.info('one');
    await expect
      .poll(() => lines.map(({ msg }) => msg))
      .toEqual(['one', expect.stringContaining('log transport failed')]);
    logger.info('two');
    await stop();
    expect(lines.at(-1)).toMatchObject({ msg: 'two' });
  });

  it.each([
    ['is not there', join(directory, 'absent.mjs'), /absent/],
    ['makes no stream', moduleOf('no-stream.mjs', 'export const a = 1;'), /default export makes a stream/],
  ])('whose module %s stops the start', async (_what, target, message) => {
    await expect(startLogTransport(memoryLog().logger, target, {})).rejects.toThrow(message);
  });
});
