import process from 'node:process';
import { afterAll, expect, it } from 'vitest';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

afterAll(killSpawned);

/** With SOAK=true a million; of 600,000 what is held does not hide behind V8's young generation, which grows by 50 MB where the client is fast. */
const count = process.env['SOAK'] ? 1_000_000 : 600_000;

it(`sends ${count} rows of 300 bytes in memory that does not grow with them`, { timeout: 120_000 }, async () => {
  // Rows that were kept would end the process, as they take more than it has.
  const service = new SpawnedService({ program: ['--max-old-space-size=64', 'test/fixtures/streaming/main.ts'] });
  const { url } = await service.ready();
  async function read(path: string): Promise<number> {
    let bytes = 0;
    // Uncompressed: what is measured is the stream, not zlib.
    const { body } = await fetch(`${url}${path}`, { headers: { 'accept-encoding': 'identity' } });
    for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
      bytes += piece.length;
    }
    return bytes;
  }
  const mostMemory = async () => Number(/"data":(\d+)/.exec(await (await fetch(`${url}/memory`)).text())?.[1]);
  await read('/rows.csv?count=100000');
  const before = await mostMemory();
  expect(await read(`/rows.csv?count=${count}`)).toBeGreaterThan(count * 300);
  expect((await mostMemory()) - before).toBeLessThan(count * 200);
});
