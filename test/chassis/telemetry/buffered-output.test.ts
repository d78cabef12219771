import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BufferedOutput } from '../../../src/chassis/telemetry/buffered-output.ts';

function fileOutput() {
  const file = join(mkdtempSync(join(tmpdir(), 'slipway-output-')), 'log');
  const descriptor = openSync(file, 'w');
  onTestFinished(() => closeSync(descriptor));
  return { output: new BufferedOutput(descriptor), written: () => readFileSync(file, 'utf8') };
}

/** An output whose reader takes what it is told to: a connection that never blocks, as a pipe to a slow collector. */
async function pipeOutput() {
  const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
  // Left alone, Node would notice that the reader has gone, and close the descriptor.
  const server = createServer({ pauseOnConnect: true }, resolve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  const writer = await accepted;
  onTestFinished(() => {
    writer.destroy();
    reader.destroy();
    server.close();
  });
  const { fd } = (writer as unknown as { _handle: { fd: number } })._handle;
  return { output: new BufferedOutput(fd), reader };
}

const drained = (output: BufferedOutput) => new Promise<void>((resolve) => output.flush(resolve));
const lines = (count: number, length = 100) =>
  Array.from({ length: count }, (_, index) => `${String(index).padStart(length, '.')}\n`);

describe('BufferedOutput', () => {
  it('writes every line once and in order, whatever its length', async () => {
    const { output, written } = fileOutput();
    const all = [...lines(2000), ...lines(3, 200_000), 'é\u{1f600}\n', ...lines(10, 65_536), ...lines(2000)];
    for (const [index, line] of all.entries()) {
      output.write(line);
      if (index % 100 === 0) await new Promise(setImmediate);
    }
    await drained(output);
    expect(written()).toBe(all.join(''));
  });

  it('takes a line that is longer than all it holds as the first one', async () => {
    const { output, written } = fileOutput();
    const [line] = lines(1, 300_000) as [string];
    output.write(line);
    output.write('next\n');
    await drained(output);
    expect(written()).toBe(`${line}next\n`);
  });

  it('writes at once what no write has begun with', () => {
    const { output, written } = fileOutput();
    for (const line of lines(50)) output.write(line);
    output.flushAtOnce();
    expect(written()).toBe(lines(50).join(''));
    output.flushAtOnce();
    expect(written()).toBe(lines(50).join(''));
  });

  it('begins by itself once there is enough for a write', async () => {
    const { output, written } = fileOutput();
    for (const line of lines(400)) output.write(line);
    await expect.poll(() => written().length).toBeGreaterThanOrEqual(16_384);
  });

  it('says that it is drained when there is nothing to write', async () => {
    const { output } = fileOutput();
    await drained(output);
  });

  it('waits for a reader who takes his time, and tells of its progress', async () => {
    const { output, reader } = await pipeOutput();
    let progress = 0;
    output.onProgress(() => {
      progress += 1;
    });
    const all = lines(200, 65_536);
    for (const line of all) output.write(line);
    const done = drained(output);
    await expect.poll(() => progress).toBeGreaterThan(0);
    let received = '';
    reader.on('data', (chunk) => {
      received += chunk;
    });
    reader.resume();
    await done;
    await expect.poll(() => received.length).toBe(all.join('').length);
    expect(received === all.join('')).toBe(true);
  });

  it('drops lines once nobody reads any more, without a word', async () => {
    const { output, reader } = await pipeOutput();
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on('warning', listen);
    onTestFinished(() => void process.off('warning', listen));
    reader.destroy();
    for (let round = 0; round < 20; round += 1) {
      for (const line of lines(100, 10_000)) output.write(line);
      await drained(output);
    }
    output.flushAtOnce();
    expect(warnings.map(({ message }) => message).filter((message) => message.includes('log'))).toEqual([]);
  });

  it('drops what is more than 16 MB while nobody takes anything, and says so afterwards', async () => {
    const { output, reader } = await pipeOutput();
    for (const line of lines(400, 100_000)) output.write(line);
    let received = '';
    reader.on('data', (chunk) => {
      received += chunk;
    });
    reader.resume();
    await drained(output);
    output.write('after\n');
    await drained(output);
    await expect.poll(() => received.endsWith('after\n')).toBe(true);
    const told = JSON.parse(received.trimEnd().split('\n').at(-2) as string);
    expect(told).toMatchObject({ level: 'error', msg: expect.stringContaining('dropped') });
    expect(received.match(/^\.+\d+$/gm)?.length).toBe(400 - told.lines);
  });

  it('writes at once in order what a full pipe has kept it from writing', async () => {
    const { output, reader } = await pipeOutput();
    const all = lines(100, 65_536);
    for (const line of all) output.write(line);
    await new Promise(setImmediate);
    let received = '';
    reader.on('data', (chunk) => {
      received += chunk;
    });
    const child = new Promise((resolve) => reader.once('close', resolve));
    reader.resume();
    // Blocks this thread, so that only what fits into the connection arrives: a part of the lines, and in order.
    output.flushAtOnce();
    reader.destroy();
    await child;
    expect(all.join('').startsWith(received)).toBe(true);
  });

  it('warns once when there is nothing to write to, and goes on without', async () => {
    const closed = new BufferedOutput(99_999);
    const { promise: warned, resolve } = Promise.withResolvers<Error>();
    process.once('warning', resolve);
    closed.write('lost\n');
    await drained(closed);
    expect((await warned).message).toContain('The log cannot be written any more');
    closed.write('lost too\n');
    await drained(closed);
  });
});
