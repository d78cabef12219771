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
const probesPerSecond = 10;

/**
 * One client asks for the costliest lists that the policies allow, by turns and at a rate, and ten others ask for 120
 * ordinary pages meanwhile, while `/livez` is asked ten times a second. Each client has a loopback address of its own.
 *
 * @param url the service, on a loopback address
 * @param heavyPerSecond what the one client sends
 */
export async function fairShare(
  url: string,
  heavyPerSecond: number,
): Promise<{ heavy: SideResult; light: SideResult; probes: SideResult }> {
  const heavy: Promise<Answer>[] = [];
  const light: Promise<Answer>[] = [];
  const probes: Promise<Answer>[] = [];
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  const { promise: allSent, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    while (heavy.length < seconds() * heavyPerSecond) heavy.push(ask(url, costliest(heavy.length), '127.0.0.9'));
    // The heavy client is there first.
    while (light.length < Math.min(lightRequests, (seconds() - 2) * lightPerSecond)) {
      light.push(ask(url, ordinary(light.length), `127.0.1.${1 + (light.length % lightClients)}`));
    }
    while (probes.length < seconds() * probesPerSecond) probes.push(ask(url, '/livez', '127.0.2.1'));
    if (light.length === lightRequests) resolve();
  }, 10);
  await allSent;
  clearInterval(timer);
  const [heavily, lightly, probed] = await Promise.all([heavy, light, probes].map((sent) => Promise.all(sent)));
  return { heavy: sideOf(heavily ?? []), light: sideOf(lightly ?? []), probes: sideOf(probed ?? []) };
}

function sideOf(answers: readonly Answer[]): SideResult {
  const statuses: Record<number, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  const times = answers.filter(({ status }) => status === 200).map(({ ms }) => ms);
  return { statuses, p50: Math.round(percentile(times, 0.5)), p99: Math.round(percentile(times, 0.99)) };
}

/** The widest include, filters through a relation to many, and searches without case. Each is another, so that none shares its reads. */
function costliest(number: number): string {
  const text = (index: number) => `q${index}x${number}`;
  const products = { take: 100, orderBy: { price: 'asc' }, where: { price: { gte: number } } };
  const some = [0, 1, 2].map((index) => ({ products: { some: { name: { contains: text(index) } } } }));
  const folded = [0, 1, 2, 3, 4].map((index) => ({ name: { contains: text(index), mode: 'insensitive' } }));
  // Of 100 categories the include would cost more than a list may.
  const lists = [
    ['categories', 90, 'include', { products }],
    ['categories', 100, 'where', { AND: some }],
    ['products', 100, 'where', { OR: folded }],
  ] as const;
  const [path, pageSize, parameter, value] = lists[(number % lists.length) as 0 | 1 | 2];
  return `/api/v1/${path}/paginated?pageSize=${pageSize}&${parameter}=${encodeURIComponent(JSON.stringify(value))}`;
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
