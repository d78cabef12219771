import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createService } from '../../src/chassis/service.ts';
import type { Notebook } from '../fixtures/modules-jobs/work/work.types.ts';
import { emptyDatabase } from './empty-database.ts';
import { recordingLogger } from './log-lines.ts';

const modulesDirectory = join(import.meta.dirname, '../fixtures/modules-jobs');

/** A service with the module `work`, started, and what it did; closed at the end of the test. */
export async function startWork(databaseUrl: string, env: Record<string, string> = {}) {
  const { logger, lines, line } = recordingLogger();
  const variables = {
    NODE_ENV: 'test',
    HOST: '127.0.0.1',
    INTERNAL_PORT: '0',
    DATABASE_URL: databaseUrl,
    JOBS_POLL_MS: '100',
    ...env,
  };
  // The tables with tenants are those of a module that is off here.
  const modules = [
    { name: 'work', enabled: true },
    { name: 'orders', enabled: false },
  ];
  const config = { modules, server: { port: 0 } };
  const service = createService(config, { env: variables, modulesDirectory, logger });
  onTestFinished(async () => {
    await service.close();
  });
  const { internalAddress } = await service.start();
  const notebook = service.container.resolve('notebook') as Notebook;
  const texts = () => notebook.notes.map(({ text }) => text).filter((text) => text !== 'here' && text !== 'once');
  const metrics = async () => (await fetch(`${internalAddress.url}/metrics`)).text();
  return {
    service,
    notebook,
    texts,
    lines,
    line,
    metrics,
    jobs: service.container.resolve('jobs'),
    events: service.container.resolve('events'),
  };
}

/** An empty database until the end of the test. */
export async function freshDatabase(provider: 'sqlite' | 'postgresql'): Promise<string> {
  const { settings, remove } = await emptyDatabase(provider);
  onTestFinished(remove);
  return settings.DATABASE_URL;
}

/** The line of the first run of a job that completed. */
export async function lineOf(line: (msg: string, count: number) => Promise<Record<string, unknown>[]>, job: string) {
  for (let count = 1; ; count += 1) {
    const found = (await line('job completed', count)).find((logged) => logged['job'] === job);
    if (found) return found;
  }
}
