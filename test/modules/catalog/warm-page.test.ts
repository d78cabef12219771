import { once } from 'node:events';
import { openSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { Session } from 'node:inspector/promises';
import { devNull } from 'node:os';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { BufferedOutput } from '../../../src/chassis/telemetry/buffered-output.ts';
import { createLogger } from '../../../src/chassis/telemetry/logger.ts';
import { bootTestApp, type TestApp } from '../../support/boot-test-app.ts';

/** Files of the chassis that somebody has to open who follows such a request; a new one needs a reason. */
const most = { postgresql: 59, sqlite: 62 };

const page = `/api/v1/products/paginated?${new URLSearchParams({
  page: '1',
  pageSize: '5',
  where: JSON.stringify({ price: { gte: 1 }, category: { name: { contains: 'a' } } }),
  orderBy: JSON.stringify({ price: 'asc' }),
})}`;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const headers = { 'accept-encoding': 'gzip', 'user-agent': 'test' };
afterAll(() => agent.destroy());

/** Asks on one connection, and resolves when the service is done with the request, its log line and metrics too. */
async function ask(app: TestApp): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const observer = { closed: () => resolve() };
  app.service.observers.push(observer);
  const [response] = (await once(get(app.url + page, { agent, headers }), 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.resume();
  await closed;
  app.service.observers.splice(app.service.observers.indexOf(observer), 1);
}

/** Files of the chassis with a function that ran since the last call. */
async function filesThatRan(session: Session): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result.filter(({ functions }) => functions.some(({ ranges: [whole] }) => (whole?.count ?? 0) > 0));
  return ran.flatMap(({ url }) => /src\/(chassis\/.*)/.exec(url)?.[1] ?? []);
}

describe('a warm page of a filtered list', () => {
  it('runs through few files', async () => {
    const logger = createLogger({
      level: 'info',
      pretty: false,
      destination: new BufferedOutput(openSync(devNull, 'w')),
    });
    const app = await bootTestApp({ logger });
    for (let count = 0; count < 20; count += 1) await ask(app);
    const session = new Session();
    onTestFinished(() => session.disconnect());
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await filesThatRan(session);
    // Timers run beside some requests, so the least of several counts.
    const walks: string[][] = [];
    for (let count = 0; count < 5; count += 1) {
      await ask(app);
      walks.push(await filesThatRan(session));
    }
    const [files = []] = walks.toSorted((one, other) => one.length - other.length);
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(most[app.service.database.provider]);
  });
});
