import { afterAll, describe, expect, it } from 'vitest';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

/** The service of test/fixtures/trouble. */
function spawnTrouble(): SpawnedService {
  const env = { SHUTDOWN_ACCEPT_MS: '0', SHUTDOWN_DEADLINE_MS: '10000', ENABLE_OPENAPI: 'false' };
  return new SpawnedService({ program: ['dist-test/test/fixtures/trouble/main.js', 'trouble'], env });
}

afterAll(killSpawned);

describe.concurrent('the end of a service', () => {
  it.each(['SIGHUP', 'SIGQUIT'] as const)(
    'comes with %s too: requests finish, and no signal ends them or opens the debugger',
    async (signal) => {
      const service = spawnTrouble();
      const { url } = await service.ready();
      const inFlight = fetch(`${url}/wait/500`);
      for (const ignored of ['SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM'] as const) {
        service.child.kill(ignored);
        await service.line(`${ignored} ignored`);
      }
      const later = fetch(`${url}/wait/500`);
      await fetch(`${url}/wait/0`);
      expect((await service.end(signal)).code).toBe(0);
      expect([(await inFlight).status, (await later).status]).toEqual([200, 200]);
      expect(await service.line('shut down in')).toMatchObject({ signal, cut: 0 });
      expect(service.stderr).not.toContain('Debugger');
    },
  );

  it('lets requests finish also where SIGPIPE comes with it and nobody reads the log any more', async () => {
    const service = spawnTrouble();
    const { url } = await service.ready();
    const inFlight = fetch(`${url}/wait/500`);
    await fetch(`${url}/wait/0`);
    service.child.stdout?.destroy();
    for (const signal of ['SIGPIPE', 'SIGTERM', 'SIGPIPE'] as const) service.child.kill(signal);
    expect((await inFlight).status).toBe(200);
    expect(await service.closed).toEqual({ code: 0, signal: null });
  });
});
