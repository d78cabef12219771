import { createServer } from 'node:http';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { createService, type Reporter, wholeNumber } from '../../src/chassis/index.ts';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';
import { emptyConfig, emptyServiceVariables } from '../support/empty-service.ts';
import { raised } from '../support/raised.ts';
import { memoryLog } from './http/bare-app.ts';
import { listening } from './http/listening.ts';

describe('an error that ends the process', () => {
  it('is told to every reporter as a fault, and waits for those that take a moment, whichever fails', async () => {
    const told: unknown[] = [];
    const reporters: Reporter[] = [
      { report: () => Promise.reject(new Error('the pager is off')) },
      {
        async report(exception, request) {
          await new Promise(setImmediate);
          told.push([exception.message, exception.isOperational, exception.cause, request]);
        },
      },
    ];
    const crash = new Error('nobody caught this');
    await expect(
      createService(emptyConfig, { env: emptyServiceVariables, reporters }).reportCrash(crash),
    ).rejects.toThrow('pager is off');
    expect(told).toEqual([['nobody caught this', false, crash, undefined]]);
  });
});

describe('createService', () => {
  it('raises one message of all problems', () => {
    const env = { ...emptyServiceVariables, PORT: 'x', LOG_LEVEL: 'loud', NOISE: 'none' };
    const moduleSettings = { NOISE: wholeNumber(1, 9, 1) };
    expect(() => createService({ ...emptyConfig, moduleSettings }, { env })).toThrow(
      /has 3 problems:\n {2}- PORT: .*\n {2}- LOG_LEVEL: .*\n {2}- NOISE: /,
    );
  });

  it('refuses a directory of modules that is not there', () => {
    expect(() => createService(emptyConfig, { env: emptyServiceVariables, modulesDirectory: '/nowhere' })).toThrow(
      'Expected a directory of modules, found nothing at /nowhere; create it or correct modulesDirectory.',
    );
  });

  it('opens nothing, and leaves the record of variables as it is', async () => {
    const port = await freePort();
    const env = Object.freeze({ ...emptyServiceVariables, INTERNAL_PORT: String(port) });
    const handles = process.getActiveResourcesInfo().length;
    const service = createService({ ...emptyConfig, server: { port } }, { env });
    expect(process.getActiveResourcesInfo().length).toBe(handles);
    expect(service.database.isOpen).toBe(false);
    await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow();
    await service.close();
  });
});

describe('the life of a service', () => {
  it('has one start: a second one is refused and changes nothing', async () => {
    const service = createService(emptyConfig, { env: emptyServiceVariables });
    const first = service.start();
    await expect(service.start()).rejects.toThrow(/Expected a new service, found one that was started; make another/);
    const { addresses } = await first;
    await expect(service.start()).rejects.toThrow(/started/);
    expect((await fetch(`${addresses[0]?.url}/readyz`)).status).toBe(200);
    await service.close();
    await expect(service.start()).rejects.toThrow(/Expected a new service, found one that was closed; make another/);
  });

  it('has one end, however often and whenever it is closed', async () => {
    const service = createService(emptyConfig, { env: emptyServiceVariables });
    await service.start();
    expect(service.close()).toBe(service.close());
    expect(await service.close()).toEqual({ finished: 0, cut: 0 });
    expect(await createService(emptyConfig, { env: emptyServiceVariables }).close()).toEqual({ finished: 0, cut: 0 });
  });

  it('stops a start under way when it is closed, and closes what that had opened', async () => {
    const { promise: waiting, resolve } = Promise.withResolvers<void>();
    const { logger } = memoryLog('trace', (line) => line.includes('waiting for the database') && resolve());
    const env = {
      ...emptyServiceVariables,
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/x',
      DATABASE_CONNECT_TIMEOUT_MS: '60000',
    };
    const internalPort = await freePort();
    const service = createService(emptyConfig, { env: { ...env, INTERNAL_PORT: String(internalPort) }, logger });
    const started = raised(() => service.start());
    await waiting;
    expect(await service.close()).toEqual({ finished: 0, cut: 0 });
    expect(await started).toMatchObject({ name: 'StartStoppedError' });
    await using server = await listening(createServer(), internalPort);
    expect(server.port).toBe(internalPort);
  });
});
