import { describe, expect, it } from 'vitest';
import { production, refusal, render, skipped, type Values } from './chart.ts';

const url = 'postgresql://orders:secret@postgres:5432/orders';
const claim = (accessMode: string) => ({ uploads: { persistence: { enabled: true, accessMode } } });
const single = { replicaCount: 1, strategy: { type: 'Recreate' } };

/** Values that would render and then not work, and the sentence that says what to change. */
const contradictions: [what: string, values: Values, sentence: string][] = [
  [
    'a grace period that ends before the drain',
    { shutdown: { graceSeconds: 39 } },
    'shutdown.graceSeconds is 39, so Kubernetes would kill pods that still answer; preStopSeconds 10 + drainSeconds 25 + 5 needs at least 40.',
  ],
  [
    'an autoscaler over embedded SQLite',
    { autoscaling: { enabled: true } },
    'autoscaling.enabled needs a database that pods can share; set database.url or database.existingSecret, or turn it off.',
  ],
  [
    'fewer connections than pods may open',
    { database: { url, maxConnections: 30 } },
    'database.maxConnections is 30, and (2 pods + 1 of a rollout) x database.poolSize 10 + 1 for migrations is 31; lower database.poolSize or the number of pods, or raise max_connections of the server and this value.',
  ],
  [
    'fewer connections than an autoscaler may open',
    { database: { url, maxConnections: 150 }, autoscaling: { enabled: true }, strategy: { maxSurge: '50%' } },
    'database.maxConnections is 150, and (10 pods + 5 of a rollout) x database.poolSize 10 + 1 for migrations is 151;',
  ],
  [
    'a claim of one node for two pods',
    { ...production, ...claim('ReadWriteOnce'), strategy: { type: 'Recreate' } },
    'uploads.persistence.accessMode ReadWriteOnce lets one node hold the volume; set it to ReadWriteMany, or replicaCount to 1, strategy.type to Recreate and autoscaling.enabled to false.',
  ],
  [
    'a claim of one node under a rolling update',
    { ...production, ...claim('ReadWriteOncePod'), replicaCount: 1 },
    'uploads.persistence.accessMode ReadWriteOncePod lets one node hold the volume;',
  ],
  [
    'a claim of one node under an autoscaler',
    { ...production, ...claim('ReadWriteOnce'), ...single, autoscaling: { enabled: true } },
    'uploads.persistence.accessMode ReadWriteOnce lets one node hold the volume;',
  ],
  [
    'a URL of another database',
    { database: { url: 'mysql://root@mysql/orders' } },
    'database.url is not a PostgreSQL URL; write postgresql://user:password@host:5432/name, or none for a service without a database, or leave it empty for the demo on embedded SQLite.',
  ],
  [
    'two sources of the database URL',
    { database: { url, existingSecret: 'orders-database' } },
    'database.url and database.existingSecret are both set; keep one.',
  ],
  [
    'two sources of the Sentry DSN',
    { sentry: { dsn: 'https://key@sentry/1', existingSecret: 'orders-sentry' } },
    'sentry.dsn and sentry.existingSecret are both set; keep one.',
  ],
  [
    'a Sentry DSN that is none',
    { sentry: { dsn: 'https://sentry.example.com/1' } },
    'sentry.dsn is not a DSN; copy it from the settings of the Sentry project, https://key@host/number.',
  ],
  [
    'fewer connections than pods that ask what their replica lacks',
    { database: { url, maxConnections: 33, replica: { url: 'postgresql://replica/orders' } } },
    'database.maxConnections is 33, and (2 pods + 1 of a rollout) x (database.poolSize 10 + 1 for what the replica lacks) + 1 for migrations is 34;',
  ],
  [
    'two sources of the URL of the replica',
    {
      database: {
        ...{ url: 'postgresql://postgres/orders' },
        replica: { url: 'postgresql://replica/orders', existingSecret: 'orders-replica' },
      },
    },
    'database.replica.url and database.replica.existingSecret are both set; keep one.',
  ],
  [
    'a replica of another database',
    { database: { url: 'postgresql://postgres/orders', replica: { url: 'mysql://replica/orders' } } },
    'database.replica.url is not a PostgreSQL URL; write postgresql://user:password@host:5432/name, or leave it empty.',
  ],
  [
    'a replica of the demo',
    { database: { replica: { url: 'postgresql://replica/orders' } } },
    'database.replica needs the database that it is a replica of; set database.url or database.existingSecret.',
  ],
  [
    'two sources of the Redis URL',
    { redis: { url: 'redis://redis:6379', existingSecret: 'orders-redis' } },
    'redis.url and redis.existingSecret are both set; keep one.',
  ],
  [
    'two sources of the URLs of NATS',
    { nats: { url: 'nats://nats:4222', existingSecret: 'orders-nats' } },
    'nats.url and nats.existingSecret are both set; keep one.',
  ],
  [
    'a NATS without a scheme',
    { nats: { url: 'nats://a:4222,b:4222' } },
    'nats.url is no list of NATS URLs; write nats://user:password@host:4222 or, with TLS, tls://…, by commas, or leave it empty.',
  ],
  [
    'two sources of the secret of S3',
    { uploads: { s3: { bucket: 'orders', accessKeyId: 'a', secretAccessKey: 'b', existingSecret: 'orders-s3' } } },
    'uploads.s3.secretAccessKey and uploads.s3.existingSecret are both set; keep one.',
  ],
  [
    'an access key of S3 without its secret',
    { uploads: { s3: { bucket: 'orders', accessKeyId: 'a' } } },
    'uploads.s3 has an access key without its secret; set secretAccessKey or existingSecret.',
  ],
  [
    'a secret of S3 without its access key',
    { uploads: { s3: { bucket: 'orders', existingSecret: 'orders-s3' } } },
    'uploads.s3 has a secret without its access key; set accessKeyId.',
  ],
  [
    'S3 without a bucket',
    { uploads: { s3: { region: 'eu-central-1' } } },
    'uploads.s3 names no bucket; set uploads.s3.bucket, or leave the rest empty.',
  ],
  [
    'two sources of the internal token',
    { internal: { token: 'a-token-of-sixteen-bytes', existingSecret: 'orders-internal' } },
    'internal.token and internal.existingSecret are both set; keep one.',
  ],
  [
    'a Redis without a scheme',
    { redis: { url: 'redis:6379' } },
    'redis.url is not a Redis URL; write redis://:password@host:6379 or, with TLS, rediss://…, or leave it empty.',
  ],
  [
    'the trust of everybody',
    { trustProxy: true },
    'trustProxy is true, so that any client could name any address; set it to the number of proxies in front of the service, or to their addresses.',
  ],
  [
    'a test of a page that is switched off',
    { config: { ENABLE_OPENAPI: false } },
    'tests.apiPath is /api-docs.json, which is not there with config.ENABLE_OPENAPI false; set it to another path that answers 200, or to nothing.',
  ],
  [
    'a rollout that can replace no pod',
    { ...production, strategy: { maxSurge: 0, maxUnavailable: '0%' } },
    'strategy.maxUnavailable and strategy.maxSurge are both 0, so no pod could ever be replaced; set strategy.maxSurge to 1.',
  ],
  [
    'a budget that blocks every drain',
    { pdb: { maxUnavailable: 0 } },
    'pdb.maxUnavailable is 0, which blocks every drain of a node; set it to 1, or pdb.enabled to false.',
  ],
  [
    'an autoscaler upside down',
    { ...production, autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 3 } },
    'autoscaling.minReplicas 5 is more than autoscaling.maxReplicas 3; swap them.',
  ],
  [
    'an autoscaler without a request to measure by',
    { ...production, autoscaling: { enabled: true }, resources: { requests: { cpu: null } } },
    'autoscaling.enabled aims at a share of the CPU request, and there is none; set resources.requests.cpu.',
  ],
  [
    'an Ingress without a host',
    { ingress: { enabled: true } },
    'ingress.enabled needs a host name; set ingress.hosts, for example [orders.example.com].',
  ],
  [
    'an HTTPRoute without a Gateway',
    { httpRoute: { enabled: true } },
    'httpRoute.enabled needs a Gateway; set httpRoute.parentRefs, for example [{name: public, namespace: gateways}].',
  ],
  [
    'a proxy that is no address',
    { trustProxy: 'banana' },
    'trustProxy banana names no proxy; write false, the number of proxies in front of the service, or their addresses with commas between.',
  ],
];

describe.skipIf(skipped('helm'))(`values that contradict each other${skipped('helm')}`, () => {
  it.each(contradictions)('are refused: %s', (_what, values, sentence) => {
    expect(refusal(values).replaceAll(/\s+/g, ' ')).toContain(`- ${sentence}`);
  });

  it('are all named at once', () => {
    const text = refusal({ pdb: { maxUnavailable: 0 }, ingress: { enabled: true }, shutdown: { graceSeconds: 1 } });
    expect(text.match(/^ {2}- /gm)).toHaveLength(3);
  });

  it.each<[string, Values]>([
    ['a grace period that just suffices', { shutdown: { graceSeconds: 40 } }],
    ['just enough connections', { database: { url, maxConnections: 31 } }],
    ['no surge where pods are recreated', { database: { url, maxConnections: 11 }, ...single }],
    ['a budget of connections that embedded SQLite does not need', { database: { maxConnections: 1 } }],
    ['a claim of one node for one recreated pod', { ...production, ...claim('ReadWriteOnce'), ...single }],
    ['a claim of one node for the demo', claim('ReadWriteOnce')],
    ['a test of another page', { config: { ENABLE_OPENAPI: 'off' }, tests: { apiPath: '' } }],
  ])('are not seen in %s', (_what, values) => expect(render(values)).not.toEqual([]));
});
