import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
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

it('removes what was left half written where files of its directory come in, and nothing else', async () => {
  const [directory, incoming] = await Promise.all(
    ['ledger-', 'incoming-'].map((name) => mkdtemp(join(tmpdir(), name))),
  );
  onTestFinished(
    async () => void (await Promise.all([directory, incoming].map((path) => rm(path ?? '', { recursive: true })))),
  );
  const [left, young] = ['.11111111-1111-4111-8111-111111111111.part', '.22222222-2222-4222-8222-222222222222.part'];
  for (const name of [left, young, 'ada-1.png']) await writeFile(join(incoming ?? '', name), 'x');
  const twoHoursAgo = Date.now() / 1000 - 7200;
  for (const name of [left, 'ada-1.png']) await utimes(join(incoming ?? '', name), twoHoursAgo, twoHoursAgo);
  await new DirectoryLedger(directory ?? '', incoming).refresh('ada', 0);
  expect((await readdir(incoming ?? '')).toSorted()).toEqual([young, 'ada-1.png']);
});
