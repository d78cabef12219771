import { get } from 'node:http';
import { percentile } from '../support/open-loop.ts';

/** What became of the requests of one side: how many answers of each status, and the times of those with 200. */
export interface SideResult {
  statuses: Record<number, number>;
  /** Milliseconds; NaN where none was answered with 200. */
  p50: number;
  p99: number;
}

interface Answer {
  status: number;
  ms: number;
}

const lightClients = 10;
const lightRequests = 120;
const lightPerSecond = 12;

/**
 * One client asks for the widest list with includes that the policy allows, at a rate, and ten others ask for 120 ordinary
 * pages meanwhile. Each client has a loopback address of its own.
 *
 * @param url the service, on a loopback address
 * @param heavyPerSecond what the one client sends
 */
export async function fairShare(
  url: string,
  heavyPerSecond: number,
): Promise<{ heavy: SideResult; light: SideResult }> {
  const heavy: Promise<Answer>[] = [];
  const light: Promise<Answer>[] = [];
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  const { promise: allSent, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    while (heavy.length < seconds() * heavyPerSecond) heavy.push(ask(url, widest(heavy.length), '127.0.0.9'));
    // The heavy client is there first.
    while (light.length < Math.min(lightRequests, (seconds() - 2) * lightPerSecond)) {
      light.push(ask(url, ordinary(light.length), `127.0.1.${1 + (light.length % lightClients)}`));
    }
    if (light.length === lightRequests) resolve();
  }, 10);
  await allSent;
  clearInterval(timer);
  return { heavy: sideOf(await Promise.all(heavy)), light: sideOf(await Promise.all(light)) };
}

function sideOf(answers: readonly Answer[]): SideResult {
  const statuses: Record<number, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  const times = answers.filter(({ status }) => status === 200).map(({ ms }) => ms);
  return { statuses, p50: Math.round(percentile(times, 0.5)), p99: Math.round(percentile(times, 0.99)) };
}

/** Each is another, so that none shares its reads. */
function widest(number: number): string {
  const products = { take: 100, orderBy: { price: 'asc' }, where: { price: { gte: number } } };
  return `/api/v1/categories/paginated?pageSize=100&include=${encodeURIComponent(JSON.stringify({ products }))}`;
}

function ordinary(number: number): string {
  return `/api/v1/products/paginated?pageSize=20&where=${encodeURIComponent(JSON.stringify({ price: { gte: number } }))}`;
}

function ask(url: string, path: string, localAddress: string): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve) => {
    const done = (status: number) => resolve({ status, ms: performance.now() - began });
    const request = get(url + path, { localAddress, agent: false }, (response) => {
      response.resume().on('end', () => done(response.statusCode ?? 0));
      response.on('error', () => done(0));
    });
    request.on('error', () => done(0));
  });
}
