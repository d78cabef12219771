import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DirectoryLedger } from '../../../../src/chassis/uploads/files/directory-ledger.ts';

it('counts a file once that is stored while the directory is read, whether the reading sees it or not', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ledger-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const ledger = new DirectoryLedger(directory);
  const store = async (name: string) => {
    await writeFile(join(directory, name), Buffer.alloc(10));
    ledger.add(name, 10);
  };
  await store('ada-1.png');
  await ledger.refresh('ada', 0);
  const reading = ledger.refresh('ada', 0);
  // As one that gets its name once the names have been read.
  ledger.add('ada-2.png', 10);
  await reading;
  expect(ledger.stored('ada')).toBe(20);
  const second = ledger.refresh('ada', 0);
  await Promise.all([store('ada-2.png'), store('ada-3.png')]);
  await second;
  expect(ledger.stored('')).toBe(30);
  await rm(join(directory, 'ada-1.png'));
  await ledger.refresh('ada', 0);
  expect(ledger.stored('')).toBe(20);
});
