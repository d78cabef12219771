import process from 'node:process';
import { expect } from 'vitest';
import { freePort, RestrictedContainer } from './podman.ts';

const startMs = 60_000;
const containers: RestrictedContainer[] = [];

/** Settings with which the service runs alone, on embedded SQLite. */
export const demo = {
  DATABASE_URL: 'file:/data/slipway.db',
  DATABASE_MIGRATE: 'true',
  DATABASE_SEED: 'small',
  AUTH_JWT_SECRET: 'a secret of this test, long enough for it',
  CURSOR_SECRET: 'another secret of this test, long enough for it',
};

/** Removes every container that a test has started, and its volume. */
export function removeContainers(): void {
  for (const container of containers) container.remove();
}

/** Starts a container of the image, as a pod under the restricted policy. */
export function start(image: string, settings: Record<string, string>, ...command: string[]): RestrictedContainer {
  const container = new RestrictedContainer(
    image,
    `slipway-test-${process.pid}-${containers.length}`,
    settings,
    ...command,
  );
  containers.push(container);
  return container;
}

/** Starts the service with embedded SQLite, and waits until it is ready. */
export async function serve(image: string, settings: Record<string, string> = {}) {
  const [PORT, INTERNAL_PORT] = [await freePort(), await freePort()];
  const loopback = { HOST: '127.0.0.1', INTERNAL_HOST: '127.0.0.1', PORT, INTERNAL_PORT };
  const container = start(image, { ...loopback, ...demo, ...settings });
  const url = `http://127.0.0.1:${PORT}`;
  const internal = `http://127.0.0.1:${INTERNAL_PORT}`;
  await expect.poll(() => statusOf(`${internal}/readyz`), { timeout: startMs, interval: 100 }).toBe(200);
  return { container, url, internal };
}

/** The status of an answer; undefined where there is none. */
export function statusOf(url: string): Promise<number | undefined> {
  return fetch(url).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => undefined,
  );
}
