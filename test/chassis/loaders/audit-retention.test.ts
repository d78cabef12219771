import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withoutScopes } from '../../../src/chassis/context/run-as.ts';
import { auditRetention } from '../../../src/chassis/loaders/audit-retention.ts';
import { createService } from '../../../src/chassis/service.ts';
import { databaseProviders } from '../../support/empty-database.ts';
import { recordingLogger } from '../../support/log-lines.ts';
import { freshDatabase, startWork } from '../../support/start-work.ts';

const modulesDirectory = join(import.meta.dirname, '../../fixtures/modules-audited');
const day = 24 * 60 * 60 * 1000;
const name = 'remove-old-audit-trail';

/** A service with audited repositories and no jobs file, and 2,500 changes of 10.1 days ago, one of 9.9 and one of now. */
async function startShelf(databaseUrl: string, env: Record<string, string> = {}) {
  const { logger, lines } = recordingLogger();
  const variables = { NODE_ENV: 'test', HOST: '127.0.0.1', INTERNAL_PORT: '0', DATABASE_URL: databaseUrl, ...env };
  const config = { modules: [{ name: 'shelf', enabled: true }], server: { port: 0 } };
  const service = createService(config, { env: variables, modulesDirectory, logger });
  onTestFinished(async () => {
    await service.close();
  });
  await service.start();
  const change = (daysAgo: number) => {
    const createdAt = new Date(Date.now() - daysAgo * day);
    return { model: 'Category', recordId: randomUUID(), action: 'update', createdAt };
  };
  const { change: changes } = service.database.client;
  const asAll = <T>(work: () => Promise<T>) => service.run(() => withoutScopes('a test', work));
  const old = Array.from({ length: 2500 }, () => change(10.1));
  await asAll(async () => changes.createMany({ data: [...old, change(9.9), change(0)] }));
  const found = auditRetention(service);
  const remove = (signal: AbortSignal) =>
    service.run(() => found[0]?.definition.work(undefined as never, { signal } as never));
  return { found, lines, remove, stored: () => asAll(async () => changes.count()) };
}

describe.each(databaseProviders)('the audit trail of repositories on %s', (provider) => {
  it('loses what is older than AUDIT_TRAIL_DAYS, of all callers and in batches, and nothing else', async () => {
    const { lines, remove, stored } = await startShelf(await freshDatabase(provider), { AUDIT_TRAIL_DAYS: '10' });
    expect(lines.find(({ msg }) => msg === 'jobs loaded')).toMatchObject({ jobs: [name] });
    await remove(AbortSignal.abort());
    expect(await stored()).toBe(2502);
    await remove(AbortSignal.timeout(60_000));
    expect(await stored()).toBe(2);
    const told = lines.filter(({ msg }) => msg === 'old audit trail removed');
    expect(told).toMatchObject([{ trail: 'change', removed: 2500, days: 10 }]);
  });

  it('is kept for a year by default', async () => {
    const { remove, stored } = await startShelf(await freshDatabase(provider));
    await remove(AbortSignal.timeout(60_000));
    expect(await stored()).toBe(2502);
  });
});

it('an audit trail is kept for ever with AUDIT_TRAIL_DAYS 0, and where no index leads to what is old', async () => {
  const url = await freshDatabase('sqlite');
  const { found, lines } = await startShelf(url, { AUDIT_TRAIL_DAYS: '0' });
  expect(found).toEqual([]);
  expect(lines.filter(({ msg }) => /jobs loaded|audit trail/.test(msg))).toEqual([]);
  const other = await startShelf(url);
  const [warning] = other.lines.filter(({ msg }) => msg === 'audit trail kept for ever: @@index([createdAt]) missing');
  expect(warning).toMatchObject({ level: 'warn', models: ['category'] });
});

it('a service without an audit trail has no job of it', async () => {
  const { service } = await startWork(await freshDatabase('sqlite'));
  expect(auditRetention(service)).toEqual([]);
});
