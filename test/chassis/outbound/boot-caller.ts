import { join } from 'node:path';
import { afterAll, beforeEach } from 'vitest';
import { FakePeer, jsonAnswer } from '../../../src/chassis/testing/fake-peer.ts';
import type { TestRequest } from '../../../src/chassis/testing/test-client.ts';
import { bootTestApp, type TestApp } from '../../support/boot-test-app.ts';
import { memoryLog } from '../http/bare-app.ts';

const modulesDirectory = join(import.meta.dirname, '../../fixtures/modules-calling');
const modules = [{ name: 'caller', enabled: true }];

/** A service whose module calls two peers, and what it logs. */
export async function bootCaller() {
  const [payments, anything] = [await FakePeer.open(), await FakePeer.open()];
  const log = memoryLog('info');
  const boot = (env: Record<string, string> = {}): Promise<TestApp> =>
    bootTestApp({
      env: { DATABASE_URL: 'none', CHARGES_URL: `${payments.url}/pay/`, ANYTHING_URL: anything.url, ...env },
      configure: (config) => ({ ...config, modules }),
      modulesDirectory,
      logger: log.logger,
    });
  const app = await boot();
  afterAll(() => {
    payments.close();
    anything.close();
  });
  beforeEach(() => {
    payments.becomes(jsonAnswer({}));
    anything.becomes(jsonAnswer({}));
  });
  /** Has the service call its peer, with the answer's data as data. */
  const call = (
    method: string,
    options: object = {},
    headers: Record<string, string> = {},
    via = 'anything',
  ): TestRequest => app.send((server) => server.post(`/${via}/${method}`).set(headers).send(options));
  /** A value of `/metrics`; 0 where it is not there. */
  async function metric(name: string): Promise<number> {
    const { text } = await app.internal.get('/metrics');
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1] ?? 0,
    );
  }
  return { app, payments, anything, log, boot, call, metric };
}
