import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { environmentSchema, readEnvironment } from '../../src/chassis/config/environment.ts';
import { authSettings } from '../../src/modules/auth/auth.config.ts';
import { read, root } from '../house/repository.ts';

interface ComposeService {
  image: string;
  build?: object;
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  depends_on?: string[] | Record<string, { condition: string }>;
  read_only?: boolean;
  cap_drop?: string[];
  healthcheck?: object;
}

const compose = parse(read('compose.yaml'), { merge: true, uniqueKeys: true }) as {
  services: Record<string, ComposeService>;
  volumes: Record<string, null>;
};
const services = Object.entries(compose.services);
const own = services.filter(([, { image }]) => image === compose.services['service']?.image);
const known = new Set(Object.keys({ ...environmentSchema.shape, ...authSettings }));
const promtool = ['promtool'].find((name) => spawnSync(name, ['--version']).status === 0);

describe('compose.yaml', () => {
  it('sets variables of the service only that it reads', () => {
    const unknown = own.flatMap(([name, { environment = {} }]) =>
      Object.keys(environment)
        .filter((variable) => !known.has(variable))
        .map((variable) => `${name}: ${variable}`),
    );
    expect(unknown).toEqual([]);
  });

  it('gives the service values that it takes in production', () => {
    const variables = Object.entries(compose.services['service']?.environment ?? {});
    const given = Object.fromEntries(
      variables.map(([name, value]) => [name, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]),
    );
    expect(given).toMatchObject({ NODE_ENV: 'production', DATABASE_URL: expect.stringMatching(/^postgresql:/) });
    expect(() => readEnvironment(authSettings, given)).not.toThrow();
  });

  it('mounts files that exist, read-only, and volumes that it declares', () => {
    const mounts = services.flatMap(([, { volumes = [] }]) => volumes.map((mount) => mount.split(':')));
    const files = mounts.filter(([from]) => from?.startsWith('.'));
    expect(files.length).toBeGreaterThan(4);
    expect(files.filter(([from = '', , mode]) => mode !== 'ro' || !existsSync(join(root, from)))).toEqual([]);
    const named = mounts.map(([from = '']) => from).filter((from) => !from.startsWith('.'));
    expect(named.toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
  });

  it('builds its image once, for the service, its migration and its seed', () => {
    expect(services.filter(([, { build }]) => build).map(([name]) => name)).toEqual(['service']);
    expect(own.map(([name]) => name)).toEqual(['service', 'migrate', 'seed']);
  });

  it('pins every image that it does not build to a version', () => {
    const others = services.filter((entry) => !own.includes(entry)).map(([, { image }]) => image);
    expect(others.filter((image) => !/:v?\d+\.\d+/.test(image))).toEqual([]);
  });

  it('listens on this machine only', () => {
    const ports = services.flatMap(([, { ports: published = [] }]) => published);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(ports.length).toBeGreaterThan(0);
  });

  it('starts the service after its migration, and that after the database is healthy', () => {
    const { service, migrate, postgres } = compose.services;
    expect(service?.depends_on).toMatchObject({ migrate: { condition: 'service_completed_successfully' } });
    expect(migrate).toMatchObject({ command: ['migrate'], depends_on: { postgres: { condition: 'service_healthy' } } });
    expect(postgres?.healthcheck).toBeDefined();
  });

  it('runs the service as a pod would, with a read-only root and no capability', () => {
    for (const [, service] of own) expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  });

  it('has Prometheus read the internal port, and the alerts of the chart', () => {
    const { rule_files, scrape_configs } = parse(read('compose/prometheus.yaml'));
    const internal = environmentSchema.shape['INTERNAL_PORT']?.parse(undefined);
    expect(scrape_configs[0].static_configs[0].targets).toEqual([`service:${internal}`]);
    const mounted = compose.services['prometheus']?.volumes?.map((mount) => mount.split(':')) ?? [];
    expect(mounted).toContainEqual(['./helm/slipway/files/alerts.yaml', `/etc/prometheus/${rule_files[0]}`, 'ro']);
  });

  it('has Grafana find the dashboards of the chart and its data source', () => {
    const mounted = compose.services['grafana']?.volumes?.map((mount) => mount.split(':')) ?? [];
    const provider = parse(read('compose/grafana-dashboards.yaml')).providers[0];
    expect(mounted).toContainEqual(['./helm/slipway/files/dashboards', provider.options.path, 'ro']);
    expect(parse(read('compose/grafana-datasources.yaml')).datasources[0].url).toBe('http://prometheus:9090');
  });

  it('has the collector take what the service sends', () => {
    const { receivers, service } = parse(read('compose/collector.yaml'));
    const port = receivers.otlp.protocols.http.endpoint.split(':').at(-1);
    expect(compose.services['service']?.environment?.['OTEL_EXPORTER_OTLP_ENDPOINT']).toBe(`http://collector:${port}`);
    expect(service.pipelines.traces.receivers).toEqual(['otlp']);
  });

  it.skipIf(!promtool)('has a configuration of Prometheus that promtool accepts (needs promtool)', () => {
    const options = ['check', 'config', '--syntax-only', join(root, 'compose/prometheus.yaml')];
    expect(execFileSync('promtool', options, { encoding: 'utf8' })).toContain('SUCCESS');
  });
});
