import { afterAll, expect, it } from 'vitest';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

afterAll(killSpawned);

function spawnSlow(env: Record<string, string>): SpawnedService {
  const program = ['dist-test/test/fixtures/trouble/main.js', 'slow-database'];
  return new SpawnedService({ program, env: { ENABLE_OPENAPI: 'false', SHUTDOWN_ACCEPT_MS: '0', ...env } });
}

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
