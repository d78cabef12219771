import { describe, expect, it } from 'vitest';
import { all, examples, objects, only, production, servicePod, skipped, template, variables } from './chart.ts';

const url = 'postgresql://orders:secret@postgres:5432/orders';
const secretOf = (name: string, key: string) => ({ secretKeyRef: { name, key } });
const decoded = (secret: { data: Record<string, string> }) =>
  Object.fromEntries(Object.entries(secret.data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]));

describe.skipIf(skipped('helm'))(`the environment${skipped('helm')}`, () => {
  it.each(examples)(
    'has DATABASE_URL, NODE_ENV and LOCAL_UPLOAD_DIR in every pod of $name that runs the service',
    ({ file }) => {
      const pods = objects(template({}, '-f', file)).flatMap(({ spec }) => spec?.template?.spec ?? []);
      const containers = pods.flatMap(({ initContainers = [], containers: running }) => [
        ...initContainers,
        ...running,
      ]);
      const own = containers.filter(({ name }) => /^(service|migrate)$/.test(name));
      expect(own.length).toBeGreaterThan(0);
      for (const container of own) {
        expect(variables(container)).toMatchObject({ NODE_ENV: 'production', LOCAL_UPLOAD_DIR: '/uploads' });
        expect(variables(container)['DATABASE_URL']).toBeTruthy();
      }
    },
  );

  it('mounts the uploads where LOCAL_UPLOAD_DIR says', () => {
    const { container } = servicePod({ uploads: { mountPath: '/var/files' } });
    expect(variables(container)['LOCAL_UPLOAD_DIR']).toBe('/var/files');
    expect(container.volumeMounts).toContainEqual({ name: 'uploads', mountPath: '/var/files' });
  });

  it('names each variable once', () => {
    for (const { file } of examples) {
      const { container } = servicePodOf(file);
      const names = container.env.map(({ name }: { name: string }) => name);
      expect(names).toEqual([...new Set(names)]);
    }
  });

  it('derives the times of shutdown', () => {
    expect(variables(servicePod(production).container)).toMatchObject({
      SHUTDOWN_ACCEPT_MS: '1000',
      SHUTDOWN_DEADLINE_MS: '25000',
    });
    const covered = { shutdown: { preStopSeconds: 2, drainSeconds: 60, graceSeconds: 70 } };
    expect(variables(servicePod(covered).container)).toMatchObject({
      SHUTDOWN_ACCEPT_MS: '3000',
      SHUTDOWN_DEADLINE_MS: '60000',
    });
  });

  it('keeps the heap within the memory limit', () => {
    expect(variables(servicePod().container)['NODE_OPTIONS']).toBe('--max-old-space-size-percentage=75');
  });

  it('believes one proxy where there is one, and nobody else', () => {
    const trusted = (values: object) => variables(servicePod({ ...production, ...values }).container)['TRUST_PROXY'];
    expect(trusted({})).toBe('false');
    expect(trusted({ ingress: { enabled: true, hosts: ['a.example.com'] } })).toBe('1');
    expect(trusted({ httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] } })).toBe('1');
    expect(trusted({ trustProxy: 2 })).toBe('2');
  });

  it('names the service, and its pod where there is a collector', () => {
    const plain = variables(servicePod(production).container);
    expect(plain['OTEL_SERVICE_NAME']).toBe('orders');
    expect(plain).not.toHaveProperty('OTEL_EXPORTER_OTLP_ENDPOINT');
    const traced = variables(
      servicePod({
        telemetry: { otlpEndpoint: 'http://collector:4318', resourceAttributes: { 'service.version': 'v1' } },
      }).container,
    );
    expect(traced['OTEL_EXPORTER_OTLP_ENDPOINT']).toBe('http://collector:4318');
    expect(traced['OTEL_RESOURCE_ATTRIBUTES'].split(',')).toEqual(
      expect.arrayContaining(['service.version=v1', 'k8s.pod.name=$(POD_NAME)', 'service.namespace=shop']),
    );
    expect(Object.keys(traced).indexOf('POD_NAME')).toBeLessThan(
      Object.keys(traced).indexOf('OTEL_RESOURCE_ATTRIBUTES'),
    );
  });

  it('carries numbers and booleans as text, however they were given', () => {
    const given = ['--set', 'config.SMALL=1', '--set', 'config.ON=true'];
    const [{ data }] = objects(template({ config: { LARGE: 10_000_000, HALF: 0.5, ZERO: 0 } }, ...given)).filter(
      ({ kind }) => kind === 'ConfigMap',
    );
    expect(data).toEqual({ SMALL: '1', ON: 'true', LARGE: '10000000', HALF: '0.5', ZERO: '0' });
  });
});

describe.skipIf(skipped('helm'))(`secrets${skipped('helm')}`, () => {
  it('come from Secrets that exist, and none is made', () => {
    const values = {
      database: { existingSecret: 'orders-database', existingSecretKey: 'uri' },
      sentry: { existingSecret: 'orders-sentry' },
      envFrom: [{ secretRef: { name: 'orders-env' } }],
    };
    const { container } = servicePod(values);
    expect(all('Secret', values)).toEqual([]);
    expect(variables(container)).toMatchObject({
      DATABASE_URL: secretOf('orders-database', 'uri'),
      SENTRY_DSN: secretOf('orders-sentry', 'SENTRY_DSN'),
    });
    expect(container.envFrom).toEqual([{ secretRef: { name: 'orders-env' } }]);
  });

  it('that were given stand in the Secret of the release', () => {
    const values = {
      database: { url },
      sentry: { dsn: 'https://key@sentry/1' },
      secretEnv: { AUTH_JWT_SECRET: 12345678 },
    };
    expect(decoded(only('Secret', values, 'orders'))).toEqual({
      DATABASE_URL: url,
      SENTRY_DSN: 'https://key@sentry/1',
      AUTH_JWT_SECRET: '12345678',
    });
    const { container } = servicePod(values);
    expect(variables(container)['DATABASE_URL']).toEqual(secretOf('orders', 'DATABASE_URL'));
    expect(container.envFrom).toEqual([{ secretRef: { name: 'orders' } }]);
  });

  it.each(examples)('are in no ConfigMap, annotation or argument of $name', ({ file }) => {
    const open = objects(template({}, '-f', file)).filter(({ kind }) => kind !== 'Secret');
    expect(JSON.stringify(open)).not.toMatch(/secret@postgres|thirty-two-bytes|sixteen-bytes|key@sentry/);
  });

  it('roll the pods when they change, and so do settings and the token', () => {
    const checksums = (values: object) => JSON.stringify(servicePod({ database: { url }, ...values }).annotations);
    const before = checksums({});
    expect(checksums({})).toBe(before);
    expect(checksums({ config: { LOG_LEVEL: 'debug' } })).not.toBe(before);
    expect(checksums({ secretEnv: { CURSOR_SECRET: 'new' } })).not.toBe(before);
    expect(checksums({ database: { url: `${url}2` } })).not.toBe(before);
    expect(checksums({ rolloutToken: '2' })).not.toBe(before);
  });
});

describe.skipIf(skipped('helm'))(`the demo${skipped('helm')}`, () => {
  it('is one pod on embedded SQLite, migrated and seeded, whatever replicaCount says', () => {
    const { pod, container } = servicePod({ replicaCount: 3 });
    expect(only('Deployment', { replicaCount: 3 }).spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(variables(container)).toMatchObject({
      DATABASE_URL: 'file:/data/slipway.db',
      DATABASE_MIGRATE: 'true',
      DATABASE_SEED: 'small',
    });
    expect(container.volumeMounts).toContainEqual({ name: 'data', mountPath: '/data' });
    expect(pod.volumes).toContainEqual({ name: 'data', emptyDir: { sizeLimit: '512Mi' } });
    expect(all('Job')).toEqual([]);
  });

  it('invents the secret that the service needs, and nothing that was given', () => {
    expect(decoded(only('Secret'))['AUTH_JWT_SECRET']).toMatch(/^[A-Za-z0-9]{48}$/);
    expect(decoded(only('Secret', { secretEnv: { AUTH_JWT_SECRET: 'given' } }))).toEqual({ AUTH_JWT_SECRET: 'given' });
    expect(all('Secret', { embedded: { generatedSecrets: [] } })).toEqual([]);
  });

  it('ends with a database: no secret is invented, nothing migrates or seeds at start', () => {
    expect(all('Secret', production)).toEqual([]);
    const names = Object.keys(variables(servicePod(production).container));
    expect(names).not.toContain('DATABASE_MIGRATE');
    expect(names).not.toContain('DATABASE_SEED');
  });
});

function servicePodOf(file: string) {
  const [deployment] = objects(template({}, '-f', file)).filter(({ kind }) => kind === 'Deployment');
  return { container: deployment.spec.template.spec.containers[0] };
}
