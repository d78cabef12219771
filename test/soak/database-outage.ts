import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { type PostgresServer, startPostgres } from '../../src/chassis/testing/postgres.ts';
import { type Attempt, adminToken, type ClientRequest, Clients } from '../support/clients.ts';
import { SpawnedService } from '../support/spawn-service.ts';

/** What came of a database that was killed under load and came back. */
export interface OutageResult {
  requests: number;
  /** Answers 503 in the one error body, with Retry-After. */
  refused: number;
  /** Attempts with no answer, or with one that is neither right nor such a 503. */
  wrong: Attempt[];
  /** The longest that a request took, in milliseconds; between them, the longest that was refused. */
  slowestMs: number;
  slowestRefusedMs: number;
  /** From the kill until readiness was off, and from the server's return until it was on again, in milliseconds. */
  notReadyAfterMs: number;
  readyAfterMs: number;
  /** Records whose creation was answered with 201 and which are gone. */
  lost: number;
  /** Whether the process was alive all the time. */
  alive: boolean;
  code: number | null;
  /** Lines of level fatal, or of a rejection that nobody handled. */
  faults: string[];
}

const workers = 4;
const path = '/api/v1/products/paginated?pageSize=5';

/** Kills PostgreSQL under load and starts it again after `awayMs`. */
export async function databaseOutage(postgres: PostgresServer, awayMs: number): Promise<OutageResult> {
  const service = serviceOn(await postgres.createDatabase('outage'));
  try {
    return await measure(service, postgres, awayMs);
  } finally {
    await service.kill();
  }
}

/** The service, in a process of its own, with sample data in this database. */
export function serviceOn(databaseUrl: string): SpawnedService {
  return new SpawnedService({
    env: {
      ...{ DATABASE_URL: databaseUrl, DATABASE_MIGRATE: 'true', DATABASE_SEED: 'small' },
      ...{ ENABLE_OPENAPI: 'false', ENABLE_LOGGING: 'false', RATE_LIMIT_ENABLED: 'false' },
    },
  });
}

async function measure(service: SpawnedService, postgres: PostgresServer, awayMs: number): Promise<OutageResult> {
  const { url, internalUrl } = await service.ready();
  const right = await (await fetch(url + path)).text();
  const marker = `outage-${randomUUID()}`;
  const attempts: Attempt[] = [];
  const clients = new Clients(url, readsAndWrites(marker, await adminToken(url)), (attempt) => attempts.push(attempt));
  await clients.start(workers);
  await wait(1000);
  const killed = performance.now();
  await postgres.kill();
  const notReadyAfterMs = await since(killed, internalUrl, 503);
  await wait(awayMs - (performance.now() - killed));
  const alive = (await fetch(`${internalUrl}/livez`)).ok;
  await postgres.restart();
  const readyAfterMs = await since(performance.now(), internalUrl, 200);
  await wait(1000);
  await clients.stop();
  const created = attempts.filter(({ status }) => status === 201).map(({ body }) => JSON.parse(body).data.id as string);
  const found = await Promise.all(created.map(async (id) => (await fetch(`${url}/api/v1/categories/${id}`)).ok));
  const { code } = await service.end();
  const refused = attempts.filter(isRefusal);
  return {
    requests: attempts.length,
    refused: refused.length,
    wrong: attempts.filter((attempt) => !isRefusal(attempt) && !isRight(attempt, right)),
    slowestMs: slowest(attempts),
    slowestRefusedMs: slowest(refused),
    notReadyAfterMs,
    readyAfterMs,
    lost: found.filter((there) => !there).length,
    ...{ alive, code },
    faults: service.lines
      .filter(({ level, msg }) => level === 'fatal' || msg === 'unhandled promise rejection')
      .map((line) => JSON.stringify(line))
      .concat(service.stderr === '' ? [] : [service.stderr]),
  };
}

/** Waits until readiness has this status; gives the milliseconds since `from`. */
async function since(from: number, internalUrl: string, status: number): Promise<number> {
  while ((await fetch(`${internalUrl}/readyz`)).status !== status) await wait(20);
  return Math.round(performance.now() - from);
}

/** Every tenth request writes. */
function readsAndWrites(marker: string, token: string): () => ClientRequest {
  let count = 0;
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return () => {
    count += 1;
    if (count % 10 > 0) return { method: 'GET', path };
    const body = JSON.stringify({ name: `${marker} ${count}` });
    return { method: 'POST', path: '/api/v1/categories', headers, body };
  };
}

function isRefusal({ status, headers, body }: Attempt): boolean {
  return status === 503 && headers['retry-after'] !== undefined && JSON.parse(body).success === false;
}

function isRight({ method, status, body }: Attempt, right: string): boolean {
  return method === 'POST' ? status === 201 : status === 200 && body === right;
}

function slowest(attempts: readonly Attempt[]): number {
  return Math.round(Math.max(...attempts.map(({ ms }) => ms)));
}

if (import.meta.main) {
  const postgres = await startPostgres();
  try {
    const result = await databaseOutage(postgres, Number(process.argv[2] ?? 10) * 1000);
    const { wrong, ...figures } = result;
    process.stdout.write(
      `${JSON.stringify({ ...figures, wrong: wrong.length, examples: wrong.slice(0, 5) }, null, 2)}\n`,
    );
    process.exitCode = wrong.length > 0 ? 1 : 0;
  } finally {
    await postgres.stop();
  }
}
