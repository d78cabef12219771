import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { all, chart, type Manifest, objects, production, readYaml, skipped, template, tool } from './chart.ts';

describe.skipIf(skipped('helm'))(`as a subchart${skipped('helm')}`, () => {
  function parentChart(values: object): string {
    const directory = mkdtempSync(join(tmpdir(), 'slipway-parent-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    mkdirSync(join(directory, 'charts'));
    cpSync(chart, join(directory, 'charts/slipway'), { recursive: true });
    const { version } = readYaml('Chart.yaml');
    const dependencies = ['orders', 'billing'].map((alias) => ({
      name: 'slipway',
      version,
      alias,
      condition: `${alias}.enabled`,
    }));
    writeFileSync(
      join(directory, 'Chart.yaml'),
      stringify({ apiVersion: 'v2', name: 'shop', version: '1.0.0', dependencies }),
    );
    writeFileSync(join(directory, 'values.yaml'), stringify(values));
    return directory;
  }

  it('runs several times in one release, with global values and conditions', async () => {
    const directory = parentChart({
      global: { region: 'eu' },
      orders: { enabled: true, ...production },
      billing: { enabled: true },
    });
    const { stdout } = await promisify(execFile)(helm(), ['template', 'shop', directory]);
    const deployments = objects(stdout).filter(({ kind }) => kind === 'Deployment');
    const names = deployments.map(({ metadata }) => metadata.name);
    expect(names.toSorted()).toEqual(['shop-billing', 'shop-orders']);
  });

  it('is left out by its condition', async () => {
    const directory = parentChart({ orders: { enabled: false }, billing: { enabled: false } });
    const { stdout } = await promisify(execFile)(helm(), ['template', 'shop', directory]);
    expect(stdout.trim()).toBe('');
  });
});

describe.skipIf(skipped('helm'))(`NOTES.txt${skipped('helm')}`, () => {
  const notes = async (values: object) => {
    const options = ['install', 'orders', chart, '--dry-run=client', '-f', '-'];
    const running = promisify(execFile)(helm(), options);
    running.child.stdin?.end(JSON.stringify(values));
    return (await running).stdout.replace(/^.*NOTES:/s, '').replaceAll(/\s+/g, ' ');
  };

  it('says that the demo keeps nothing', async () => {
    expect(await notes({})).toContain('This is a demo: no database was given, so one pod runs on embedded SQLite');
  });

  it('says what a service with a database still lacks', async () => {
    const text = await notes(production);
    expect(text).not.toContain('demo');
    expect(text).toContain('Migrations: ran before this release.');
    expect(text).toContain(
      'does not start without CURSOR_SECRET, and with the auth module not without AUTH_JWT_SECRET',
    );
    expect(text).toContain('Uploads are lost with their pod, and each pod has its own.');
    expect(text).toContain('Each pod counts rate limits by itself');
  });

  it('says nothing of what is in order', async () => {
    const text = await notes({
      ...production,
      envFrom: [{ secretRef: { name: 'orders-env' } }],
      redis: { existingSecret: 'orders-redis' },
      uploads: { persistence: { enabled: true } },
    });
    expect(text).not.toMatch(/AUTH_JWT_SECRET|CURSOR_SECRET|lost|rate limits/);
  });

  const ingress = { enabled: true, hosts: ['orders.example.com'] };
  const ingressFrom = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } }];
  it.each([
    ['with an Ingress whose pods nobody named', { ingress, networkPolicy: { enabled: true } }, true],
    ['with an Ingress and no policy', { ingress, networkPolicy: { enabled: false, ingressFrom } }, true],
    ['with an Ingress whose pods are named', { ingress, networkPolicy: { enabled: true, ingressFrom } }, false],
    ['with an Ingress that is not believed', { ingress, trustProxy: 'false' }, false],
    ['without an Ingress', {}, false],
  ])('says who may name the addresses of clients, %s', async (_when, values, isSaid) => {
    const text = await notes({ ...production, ...values });
    expect(text.includes('Every pod of the cluster may call the service and name the address')).toBe(isSaid);
  });

  it.each([
    ['one pod', { ...production, replicaCount: 1 }],
    ['rate limits that are off', { ...production, rateLimit: { enabled: false } }],
  ])('says nothing of Redis with %s', async (_what, values) => {
    expect(await notes(values)).not.toContain('rate limits');
  });
});

describe.skipIf(skipped('helm'))(`helm test${skipped('helm')}`, () => {
  const pods = () => all('Pod', production);

  it('asks for readiness, metrics and the API, and leaves nothing behind', () => {
    const urls = pods().map(({ spec }) => spec.containers[0].args.at(-2));
    expect(urls.toSorted()).toEqual([
      'http://orders-internal:9464/metrics',
      'http://orders-internal:9464/readyz',
      'http://orders:80/api-docs.json',
    ]);
    for (const { metadata } of pods()) {
      expect(metadata.annotations).toEqual({
        'helm.sh/hook': 'test',
        'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
      });
    }
  });

  it('leaves out the API where it has no path', () => {
    expect(template({ tests: { apiPath: '' } })).not.toContain('orders-test-api');
  });

  /** Runs what the pod of readiness runs, against a server of this test. */
  async function ask(answer: RequestListener): Promise<string> {
    const server = createServer(answer);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`;
    const [{ spec }] = pods().filter(({ metadata }: Manifest) => metadata.name === 'orders-test-readyz');
    const [{ command, args }] = spec.containers;
    expect(command).toEqual(['node']);
    const own = args.map((argument: string) => (argument.startsWith('http:') ? url : argument));
    return (await promisify(execFile)(process.execPath, own)).stdout;
  }

  it('passes once the service answers as it should', async () => {
    let asked = 0;
    const output = await ask((_request, response) => {
      asked += 1;
      response.writeHead(asked === 1 ? 503 : 200).end('{"status":"ok"}');
    });
    expect(output).toMatch(/\/readyz: 200, with ok\n$/);
    expect(asked).toBe(2);
  });
});

function helm(): string {
  return tool('helm') ?? 'helm';
}
