import { once } from 'node:events';
import { openSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { connect, type Socket } from 'node:net';
import { devNull } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BufferedOutput } from '../../src/chassis/telemetry/buffered-output.ts';
import { createLogger } from '../../src/chassis/telemetry/logger.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';
import { databaseProviders } from '../support/empty-database.ts';

/**
 * Files of the chassis that somebody has to open who follows such a request on the main thread; a new one needs a reason.
 * On SQLite they hold its driver too, on PostgreSQL what bounds the results that come in.
 */
const most = 49;

const page = `/api/v1/products/paginated?${new URLSearchParams({
  page: '1',
  pageSize: '5',
  where: JSON.stringify({ price: { gte: 1 }, category: { name: { contains: 'a' } } }),
  orderBy: JSON.stringify({ price: 'asc' }),
})}`;

/** Asks on a connection that stays open, and resolves when the service is done with the request, its log line and metrics too. */
async function ask(app: TestApp, socket: Socket): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const observer = { closed: () => resolve() };
  app.service.observers.push(observer);
  socket.write(`GET ${page} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nUser-Agent: test\r\n\r\n`);
  let answer = '';
  while (!answer.endsWith('\r\n0\r\n\r\n')) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    answer += chunk.toString('latin1');
  }
  expect(answer.slice(0, 15)).toBe('HTTP/1.1 200 OK');
  await closed;
  app.service.observers.splice(app.service.observers.indexOf(observer), 1);
}

/** Files of the chassis with a function that ran since the last call. */
async function filesThatRan(session: Session): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result.filter(({ functions }) => functions.some(({ ranges: [whole] }) => (whole?.count ?? 0) > 0));
  return ran.flatMap(({ url }) => /src\/(chassis\/(?!testing\/).*)/.exec(url)?.[1] ?? []);
}

describe('a warm page of a filtered list', () => {
  it.for(databaseProviders)('runs through at most 49 files on %s', async (provider) => {
    const logger = createLogger({
      level: 'info',
      pretty: false,
      destination: new BufferedOutput(openSync(devNull, 'w')),
    });
    const app = await bootTestApp({ logger, provider });
    // No client of node:http, whose requests the service follows too.
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    for (let count = 0; count < 20; count += 1) await ask(app, socket);
    const session = new Session();
    onTestFinished(() => session.disconnect());
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await filesThatRan(session);
    // Timers run beside some requests, so the least of several counts.
    const walks: string[][] = [];
    for (let count = 0; count < 20; count += 1) {
      await ask(app, socket);
      walks.push(await filesThatRan(session));
    }
    const [files = []] = walks.toSorted((one, other) => one.length - other.length);
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(most);
  });
});
