import { describe, expect, it } from 'vitest';
import { all, examples, objects, only, production, servicePod, skipped, template, variables } from './chart.ts';

const url = 'postgresql://orders:secret@postgres:5432/orders';
const secretOf = (name: string, key: string) => ({ secretKeyRef: { name, key } });
const decoded = (secret: { data: Record<string, string> }) =>
  Object.fromEntries(Object.entries(secret.data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]));

describe.skipIf(skipped('helm'))(`secrets${skipped('helm')}`, () => {
  it('come from Secrets that exist, and none is made', () => {
    const values = {
      database: {
        ...{ existingSecret: 'orders-database', existingSecretKey: 'uri' },
        replica: { existingSecret: 'orders-replica', existingSecretKey: 'uri' },
      },
      redis: { existingSecret: 'orders-redis', existingSecretKey: 'uri' },
      nats: { existingSecret: 'orders-nats', existingSecretKey: 'urls' },
      internal: { existingSecret: 'orders-internal', existingSecretKey: 'token' },
      uploads: {
        s3: { bucket: 'orders', accessKeyId: 'orders', existingSecret: 'orders-s3', existingSecretKey: 'secret' },
      },
      sentry: { existingSecret: 'orders-sentry' },
      envFrom: [{ secretRef: { name: 'orders-env' } }],
    };
    const { container } = servicePod(values);
    expect(all('Secret', values)).toEqual([]);
    expect(variables(container)).toMatchObject({
      DATABASE_URL: secretOf('orders-database', 'uri'),
      DATABASE_READ_URL: secretOf('orders-replica', 'uri'),
      REDIS_URL: secretOf('orders-redis', 'uri'),
      EVENTS_NATS_URL: secretOf('orders-nats', 'urls'),
      INTERNAL_TOKEN: secretOf('orders-internal', 'token'),
      UPLOAD_S3_BUCKET: 'orders',
      UPLOAD_S3_ACCESS_KEY_ID: 'orders',
      UPLOAD_S3_SECRET_ACCESS_KEY: secretOf('orders-s3', 'secret'),
      SENTRY_DSN: secretOf('orders-sentry', 'SENTRY_DSN'),
    });
    expect(container.envFrom).toEqual([{ secretRef: { name: 'orders-env' } }]);
  });

  it('that were given stand in the Secret of the release', () => {
    const values = {
      database: { url, replica: { url: `${url}-replica` } },
      redis: { url: 'redis://:secret@redis:6379' },
      nats: { url: 'nats://orders:secret@nats:4222' },
      internal: { token: 'a-token-of-sixteen-bytes' },
      uploads: { s3: { bucket: 'orders', accessKeyId: 'orders', secretAccessKey: 'the-secret@s3' } },
      sentry: { dsn: 'https://key@sentry/1' },
      secretEnv: { AUTH_JWT_SECRET: 12345678 },
    };
    expect(decoded(only('Secret', values, 'orders'))).toEqual({
      DATABASE_URL: url,
      DATABASE_READ_URL: `${url}-replica`,
      REDIS_URL: 'redis://:secret@redis:6379',
      EVENTS_NATS_URL: 'nats://orders:secret@nats:4222',
      UPLOAD_S3_SECRET_ACCESS_KEY: 'the-secret@s3',
      INTERNAL_TOKEN: 'a-token-of-sixteen-bytes',
      SENTRY_DSN: 'https://key@sentry/1',
      AUTH_JWT_SECRET: '12345678',
    });
    const { container } = servicePod(values);
    for (const name of [
      'DATABASE_URL',
      'DATABASE_READ_URL',
      'REDIS_URL',
      'EVENTS_NATS_URL',
      'UPLOAD_S3_SECRET_ACCESS_KEY',
      'INTERNAL_TOKEN',
      'SENTRY_DSN',
    ])
      expect(variables(container)[name]).toEqual(secretOf('orders', name));
    expect(container.envFrom).toEqual([{ secretRef: { name: 'orders' } }]);
  });

  it.each(examples)('are in no ConfigMap, annotation or argument of $name', ({ file }) => {
    const open = objects(template({}, '-f', file)).filter(({ kind }) => kind !== 'Secret');
    expect(JSON.stringify(open)).not.toMatch(
      /secret@(postgres|redis|nats|s3)|thirty-two-bytes|sixteen-bytes|key@sentry/,
    );
  });

  it('roll the pods when they change, and so do settings and the token', () => {
    const checksums = (values: object) => JSON.stringify(servicePod({ database: { url }, ...values }).annotations);
    const before = checksums({});
    expect(checksums({})).toBe(before);
    expect(checksums({ config: { LOG_LEVEL: 'debug' } })).not.toBe(before);
    expect(checksums({ secretEnv: { CURSOR_SECRET: 'new' } })).not.toBe(before);
    expect(checksums({ database: { url: `${url}2` } })).not.toBe(before);
    expect(checksums({ redis: { url: 'redis://redis:6379' } })).not.toBe(before);
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
    const invented = expect.stringMatching(/^[A-Za-z0-9]{48}$/);
    expect(decoded(only('Secret'))).toEqual({ AUTH_JWT_SECRET: invented, CURSOR_SECRET: invented });
    expect(decoded(only('Secret', { secretEnv: { AUTH_JWT_SECRET: 'given' } }))).toEqual({
      AUTH_JWT_SECRET: 'given',
      CURSOR_SECRET: invented,
    });
    expect(all('Secret', { embedded: { generatedSecrets: [] } })).toEqual([]);
  });

  it('ends with a database: no secret is invented, nothing migrates or seeds at start', () => {
    expect(all('Secret', production)).toEqual([]);
    const names = Object.keys(variables(servicePod(production).container));
    expect(names).not.toContain('DATABASE_MIGRATE');
    expect(names).not.toContain('DATABASE_SEED');
  });
});
