import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createService } from '../../../src/chassis/service.ts';
import { anyProvider, emptyDatabase } from '../../support/empty-database.ts';
import { recordingLogger } from '../../support/log-lines.ts';
import { raised } from '../../support/raised.ts';

const modulesDirectory = join(import.meta.dirname, '../../fixtures/modules-hooked');

/** A service of these modules, and its log. */
async function serviceOf(...names: string[]) {
  const { settings, remove } = await emptyDatabase(anyProvider);
  const { logger, lines, line } = recordingLogger();
  const env = {
    NODE_ENV: 'test',
    HOST: '127.0.0.1',
    INTERNAL_PORT: '0',
    DATABASE_URL: settings.DATABASE_URL,
    SHUTDOWN_CLOSER_TIMEOUT_MS: '300',
  };
  const modules = names.map((name) => ({ name, enabled: true }));
  const service = createService({ modules, server: { port: 0 } }, { env, modulesDirectory, logger });
  return { service, remove, line, said: () => lines.map(({ msg }) => msg) };
}

const hook = /^(first|second|failing|patient) st|^request |^ready at/;

it('starts modules in their order before the service listens, and stops them in reverse after the last request', async () => {
  const { service, remove, line, said } = await serviceOf('first', 'second');
  const { addresses } = await service.start();
  const answer = fetch(`${addresses[0]?.url}/wait`);
  await line('request waits');
  const { failure } = await service.close();
  expect((await answer).status).toBe(200);
  const order = said().filter((text) => hook.test(text));
  expect(order.map((text) => text.replace(/ at .*/, ''))).toEqual([
    'first starts',
    'second starts',
    'ready',
    'request waits',
    'request ends',
    // 'request completed' is the line of every request.
    'request completed',
    'second stops',
    'first stops',
  ]);
  // The second never ends: the shutdown goes on without it, says so, and the database was still open for the first.
  expect(failure?.message).toBe('Closing module second (second.lifecycle.ts) failed: not done within 300 ms');
  await remove();
});

it('stops the start when a hook fails, names the module and stops the modules that had started', async () => {
  const { service, remove, said } = await serviceOf('first', 'failing', 'second');
  const error = await raised(() => service.start());
  expect(error.message).toBe(
    'Module failing could not start, because failing.lifecycle.ts failed: the price list is empty',
  );
  expect((error.cause as Error).message).toBe('the price list is empty');
  expect(said().filter((text) => hook.test(text))).toEqual(['first starts', 'first stops']);
  await remove();
});

it('is no failure of a hook that ends by its signal when the service is closed while it starts', async () => {
  const { service, remove, line, said } = await serviceOf('first', 'patient');
  const started = raised(() => service.start());
  await line('patient starts');
  expect(await service.close()).toEqual({ finished: 0, cut: 0 });
  expect(await started).toMatchObject({ name: 'StartStoppedError' });
  expect(said().filter((text) => hook.test(text))).toEqual(['first starts', 'patient starts', 'first stops']);
  await remove();
});

it('names a dependency that a hook asks for and nobody provides', async () => {
  const { service, remove } = await serviceOf('misspelt');
  const error = await raised(() => service.start());
  expect(error.message).toMatch(/^Module misspelt could not start.*a dependency named loger; found none, but logger/);
  await remove();
});
