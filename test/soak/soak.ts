import { readFileSync } from 'node:fs';
import process from 'node:process';
import { startPostgres } from '../../src/chassis/testing/postgres.ts';
import { OpenLoop, percentile } from '../support/open-loop.ts';
import { SpawnedService } from '../support/spawn-service.ts';

/**
 * Loads a service for twenty minutes, or for as many as the first argument says, with a tenth of unknown paths, bad
 * filters and missing records among its lists, and prints how its memory grew: the slope of a line through its readings
 * of the second half, so that what a start fills once is not counted.
 */
const minutes = Number(process.argv[2] ?? 20);
const ratePerSecond = 200;
const readingMs = 5000;

const postgres = await startPostgres();
const service = new SpawnedService({
  env: {
    ...{ DATABASE_URL: await postgres.createDatabase('soak'), DATABASE_MIGRATE: 'true', DATABASE_SEED: 'small' },
    ...{ ENABLE_LOGGING: 'false', LOG_LEVEL: 'info' },
  },
});
const { url, internalUrl } = await service.ready();
// The lines of failures would fill this process, which keeps them.
await fetch(`${internalUrl}/log-level`, { method: 'PUT', body: '{"level":"fatal"}' });

let sent = 0;
const loop = new OpenLoop(url, () => {
  sent += 1;
  if (sent % 10 > 0)
    return `/api/v1/products/paginated?pageSize=10&where=${filter({ price: { gte: sent % 100_000 } })}`;
  return (
    [`/nowhere/${sent}`, `/api/v1/products/${sent}`, `/api/v1/products?where=${filter({ made: sent })}`][sent % 3] ?? ''
  );
});
const readings: [seconds: number, megabytes: number][] = [];
const began = performance.now();
const reader = setInterval(() => readings.push([(performance.now() - began) / 1000, memory()]), readingMs);
await loop.run(ratePerSecond, minutes * 60);
clearInterval(reader);
loop.close();
const failed = loop.answers.filter(({ status }) => status === 0 || status === 500);
const refused = loop.answers.filter(({ status }) => status === 503);
const report = {
  minutes,
  requests: loop.answers.length,
  failed: failed.length,
  refused: refused.length,
  p99Ms: Math.round(
    percentile(
      loop.answers.map(({ ms }) => ms),
      0.99,
    ),
  ),
  megabytesAtHalf: Math.round(readings[Math.floor(readings.length / 2)]?.[1] ?? Number.NaN),
  megabytesAtEnd: Math.round(readings.at(-1)?.[1] ?? Number.NaN),
  megabytesPerHour: Math.round(slope(readings.slice(Math.floor(readings.length / 2))) * 3600),
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
await service.end();
await postgres.stop();

function filter(where: object): string {
  return encodeURIComponent(JSON.stringify(where));
}

function memory(): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Of the line that is nearest to all points, by least squares. */
function slope(points: readonly [x: number, y: number][]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
