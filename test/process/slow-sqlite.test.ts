import { afterAll, expect, it } from 'vitest';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

afterAll(killSpawned);

function spawnSlow(env: Record<string, string>): SpawnedService {
  const program = ['dist-test/test/fixtures/trouble/main.js', 'slow-database'];
  return new SpawnedService({ program, env: { ENABLE_OPENAPI: 'false', SHUTDOWN_ACCEPT_MS: '0', ...env } });
}

it('answers /livez within 100 ms while statements keep SQLite busy', async () => {
  const service = spawnSlow({});
  const { url } = await service.ready();
  await fetch(`${url}/livez`);
  let counting = true;
  const counts = Promise.all([1, 2, 3].map(async () => (await fetch(`${url}/slow/count`)).status)).finally(() => {
    counting = false;
  });
  const times: number[] = [];
  while (counting) {
    const asked = performance.now();
    const { status } = await fetch(`${url}/livez`);
    times.push(performance.now() - asked);
    expect(status).toBe(200);
  }
  for (const status of await counts) expect(status).toBe(200);
  expect(times.length).toBeGreaterThan(10);
  expect(Math.max(...times)).toBeLessThan(100);
  expect((await service.end()).code).toBe(0);
});

it('ends in time on SIGTERM while an export asks SQLite for one thing after the other', async () => {
  const service = spawnSlow({ SHUTDOWN_DEADLINE_MS: '1000' });
  const { url } = await service.ready();
  const exported = await fetch(`${url}/slow/export`);
  const reader = exported.body?.getReader();
  await reader?.read();
  const asked = performance.now();
  expect((await service.end()).code).toBe(1);
  expect(performance.now() - asked).toBeLessThan(5000);
  expect(await service.line('shut down in')).toMatchObject({ cut: 1 });
});
