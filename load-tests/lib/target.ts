import exec from 'k6/execution';
import http from 'k6/http';

/** The service under load, from BASE_URL. */
export const target = (__ENV['BASE_URL'] ?? 'http://localhost:3000').replace(/\/$/, '');

/** Products that a target has to have: as many as `npm run db:seed` stores. Under fewer, no page is deep. */
const fewestProducts = 1_000;

/** What every scenario knows before it starts. */
export interface Seeded {
  /** Products of the target. */
  total: number;
}

/** Looks at the target once and ends the run, with what to do, if nothing answers there or there is nothing to list. */
export function refuseUnfitTarget(): Seeded {
  const url = `${target}/api/v1/products/paginated?pageSize=1`;
  const response = http.get(url, { timeout: '10s', tags: { name: 'setup' } });
  if (response.status === 0) {
    return refuse(
      `nothing answers at ${target} (${response.error}). Start the service or give BASE_URL; \`npm run load\` starts one.`,
    );
  }
  if (response.status !== 200) {
    return refuse(`${url} answered ${response.status}, expected 200: ${String(response.body).slice(0, 200)}`);
  }
  const { total } = JSON.parse(String(response.body)) as Seeded;
  if (total >= fewestProducts) return { total };
  return refuse(
    `${target} has ${total} products, expected at least ${fewestProducts}: run \`npm run db:seed -- --size full\` against its database.`,
  );
}

function refuse(reason: string): never {
  exec.test.abort(`Target refused: ${reason}`);
  throw new Error(reason);
}
