import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../src/chassis/testing/test-database.ts';
import { read } from '../house/repository.ts';
import { demo, removeContainers, serve, start, statusOf } from './containers.ts';
import { KeepAliveLoad } from './keep-alive-load.ts';
import { buildImage, podman, runtimes, skippedWithout } from './podman.ts';

const buildMs = 900_000;
const megabyte = 1_000_000;

afterAll(removeContainers);

describe.each(Object.entries(runtimes))('the image on %s', (kind, runtime) => {
  const why = skippedWithout(runtime);

  describe.skipIf(why)(`built from this tree${why}`, () => {
    let image: string;
    beforeAll(async () => {
      image = await buildImage(runtime, kind);
    }, buildMs);

    it('adds at most 60 MB to its base', () => {
      const [size, base] = [image, runtime].map((name) =>
        Number(podman('image', 'inspect', '--format', '{{.Size}}', name)),
      );
      process.stdout.write(
        `${kind}: ${((size ?? 0) / megabyte).toFixed(1)} MB, of which base ${((base ?? 0) / megabyte).toFixed(1)} MB\n`,
      );
      expect((size ?? 0) - (base ?? 0)).toBeLessThanOrEqual(60 * megabyte);
    });

    it('runs as uid 65532, checks its health by itself, and names where it comes from', () => {
      const [{ Config, Healthcheck }] = JSON.parse(podman('image', 'inspect', image));
      expect(Config.User).toBe('65532:65532');
      expect(Config.Entrypoint).toEqual(['node', '--disable-sigusr1', '--min-semi-space-size=8', 'dist/main.js']);
      expect(Config.Cmd ?? []).toEqual([]);
      expect(Config.Env).toContain('NODE_ENV=production');
      expect((Healthcheck ?? Config.Healthcheck).Test[0]).toBe('CMD');
      expect(Config.Labels).toMatchObject({
        'org.opencontainers.image.version': '1.2.3',
        'org.opencontainers.image.revision': 'abcdef0',
        'org.opencontainers.image.source': 'https://example.com/slipway',
      });
    });

    it('holds production packages, both database clients and the route files, and nothing of development', () => {
      const list = `const { globSync } = require('node:fs'); process.stdout.write(JSON.stringify(globSync('**', { cwd: '/app' })))`;
      const files = JSON.parse(
        podman(
          'run',
          '--rm',
          '--network',
          'none',
          '--ulimit',
          'nofile=1024:1024',
          '--ulimit',
          'nproc=1024:1024',
          '--entrypoint',
          'node',
          image,
          '--eval',
          list,
        ),
      ) as string[];
      const has = (path: string) => files.includes(path);
      expect(has('src/main.ts')).toBe(true);
      for (const client of ['postgresql', 'sqlite']) expect(has(`dist/generated/${client}/client.js`)).toBe(true);
      expect(files.filter((path) => /^dist\/modules\/.*\.routes\.js$/.test(path)).length).toBeGreaterThan(3);
      const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { dev?: boolean }> };
      const inImage = files
        .filter((path) => path.endsWith('/package.json'))
        .map((path) => path.replace('/package.json', ''));
      expect(inImage.filter((path) => packages[path]?.dev)).toEqual([]);
      expect(
        ['node_modules/node', 'node_modules/typescript', 'node_modules/prisma', 'src/generated', 'test', '.git'].filter(
          has,
        ),
      ).toEqual([]);
      expect(files.filter((path) => /(^|\/)\.env|\.db$|\.npmrc$|\.pem$/.test(path))).toEqual([]);
    });

    it('keeps the certificate and settings that it was built with out of every layer', () => {
      const history = podman('history', '--no-trunc', '--format', '{{.CreatedBy}}', image);
      expect(history).not.toMatch(/npmrc|_authToken|BEGIN CERTIFICATE/);
    });

    it('serves as a pod under the restricted policy: read-only, with 256 MB and half a core', async () => {
      const { container, url, internal } = await serve(image);
      const response = await fetch(`${url}/api/v1/products/paginated?pageSize=1`);
      expect(await response.json()).toMatchObject({ success: true, total: 1000 });
      const document = (await (await fetch(`${url}/api-docs.json`)).json()) as { paths: object };
      expect(Object.keys(document.paths)).toContain('/api/v1/products/paginated');
      expect(JSON.stringify(document.paths)).toContain('Log in');
      const page = await (await fetch(`${url}/api-docs`)).text();
      const scripts = [...page.matchAll(/src="\.(\/api-docs\/[^"]+)"/g)].map(([, path]) => `${url}${path}`);
      expect(await Promise.all(scripts.map(statusOf))).toEqual(scripts.map(() => 200));
      expect(await (await fetch(`${internal}/info`)).text()).toContain('abcdef0');
      // Its heap follows the limit of the container, not the machine.
      const heap = /^nodejs_heap_size_total_bytes (\S+)/m.exec(await (await fetch(`${internal}/metrics`)).text());
      expect(Number(heap?.[1])).toBeLessThan(256 * megabyte);
      expect(() => podman('exec', container.name, 'node', 'dist/chassis/image/health-check.js')).not.toThrow();
      container.kill('SIGTERM');
      expect(await container.ended()).toBe(0);
    }, 180_000);

    it('is unhealthy where nothing answers', () => {
      const ask = [
        '--entrypoint',
        'node',
        '--env',
        'INTERNAL_PORT=9',
        '--network',
        'none',
        '--ulimit',
        'nofile=1024:1024',
        '--ulimit',
        'nproc=1024:1024',
      ];
      expect(() => podman('run', '--rm', ...ask, image, 'dist/chassis/image/health-check.js')).toThrow();
    });

    it('fails no request when it gets SIGTERM under load, and ends with code 0', async () => {
      const { container, url, internal } = await serve(image, { SHUTDOWN_ACCEPT_MS: '3000' });
      const load = new KeepAliveLoad(`${url}/api/v1/products/paginated?pageSize=5`);
      await load.answered(200);
      container.kill('SIGTERM');
      load.comeBackUntil = Date.now() + 2000;
      await expect.poll(() => statusOf(`${internal}/readyz`), { interval: 50 }).toBe(503);
      // While connections are accepted, newcomers are served as well.
      expect(await statusOf(`${url}/api/v1/categories/paginated`)).toBe(200);
      await load.ended;
      expect(load.failures).toEqual([]);
      expect(await container.ended()).toBe(0);
      expect(container.logs()).toMatch(/shut down in \d+ ms: \d+ requests finished, 0 cut/);
      process.stdout.write(`${kind}: ${load.count} requests, ${load.failures.length} failed\n`);
    }, 180_000);

    it('migrates with the settings of the chassis only, and seeds when told how much', async () => {
      const database = await createTestDatabase('postgresql');
      const settings = { DATABASE_URL: database.url };
      const migrate = start(image, settings, 'migrate');
      expect(await migrate.ended()).toBe(0);
      expect(migrate.logs()).toContain('up to date');
      const seed = start(image, settings, 'seed', '--size', 'small');
      expect(await seed.ended()).toBe(0);
      expect(seed.logs()).toContain('1,000 sample products and no accounts');
      const careless = start(image, settings, 'seed');
      expect(await careless.ended()).toBe(1);
      await database.remove();
    }, 180_000);

    it('migrates an empty database', async () => {
      const migrate = start(image, { DATABASE_URL: demo.DATABASE_URL }, 'migrate');
      expect(await migrate.ended()).toBe(0);
      expect(migrate.logs()).toContain('Applied: ');
    }, 60_000);

    it('refuses a command that it does not know', async () => {
      const container = start(image, { DATABASE_URL: demo.DATABASE_URL }, 'migrat');
      expect(await container.ended()).toBe(1);
      expect(container.logs()).toContain('Expected no argument, for the service, or one of migrate, seed; got');
    }, 60_000);
  });
});
