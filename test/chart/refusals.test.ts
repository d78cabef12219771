import { describe, expect, it } from 'vitest';
import { production, readYaml, refusal, render, skipped, type Values } from './chart.ts';

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
    'database.url is not a PostgreSQL URL; write postgresql://user:password@host:5432/name, or leave it empty for the demo on embedded SQLite.',
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
    'a setting that the chart has a value for',
    { config: { PORT: 8080 } },
    'config.PORT: PORT is always 3000 here; service.port is what clients see; remove it from config.',
  ],
  [
    'a file for a setting that the chart has a value for',
    { secretEnv: { DATABASE_URL_FILE: '/run/url' } },
    'secretEnv.DATABASE_URL_FILE: DATABASE_URL is set by database.url or database.existingSecret; remove it from secretEnv.',
  ],
  [
    'a variable that the chart sets already',
    { env: [{ name: 'NODE_ENV', value: 'test' }] },
    'env: NODE_ENV is always production here; remove it from env.',
  ],
  [
    'a secret among the settings',
    { config: { AUTH_JWT_SECRET: 'x' } },
    'config.AUTH_JWT_SECRET looks like a secret, and a ConfigMap is none; move it to secretEnv or to a Secret named in envFrom.',
  ],
  [
    'a setting in two places',
    { config: { LOG_LEVEL: 'info' }, secretEnv: { LOG_LEVEL: 'debug' } },
    'LOG_LEVEL is both in config and in secretEnv; keep one.',
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
    ['settings whose name only speaks of secrets', { config: { AUTH_ACCESS_TOKEN_TTL_SECONDS: 60 } }],
  ])('are not seen in %s', (_what, values) => expect(render(values)).not.toEqual([]));
});

describe.skipIf(skipped('helm'))(`the schema of the values${skipped('helm')}`, () => {
  /** Every object of values.yaml whose keys the chart reads, and the root. */
  const closed = (values: Values, path: string[] = []): string[][] => [
    path,
    ...Object.entries(values).flatMap(([key, value]) =>
      isObject(value) && Object.keys(value).length > 0 && !open.has(key) ? closed(value, [...path, key]) : [],
    ),
  ];
  const open = new Set(['startup', 'liveness', 'readiness', 'requests', 'limits', 'behavior', 'labels']);
  const isObject = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  for (const name of ['podSecurityContext', 'securityContext']) open.add(name);

  it.each(closed(readYaml('values.yaml')).map((path) => [path.join('.') || 'the root', path] as const))(
    'refuses a mistyped key in %s',
    (_title, path) => {
      const values = path.reduceRight<Values>((inner, key) => ({ [key]: inner }), { mistypedKey: 1 });
      expect(refusal(values)).toContain("additional properties 'mistypedKey' not allowed");
    },
  );

  it.each<[string, Values, string]>([
    ['a text for a number', { replicaCount: '2' }, '/replicaCount'],
    ['a fraction of a pod', { replicaCount: 1.5 }, '/replicaCount'],
    ['a negative number', { shutdown: { drainSeconds: -1 } }, '/shutdown/drainSeconds'],
    ['an unknown mode', { migrations: { mode: 'always' } }, '/migrations/mode'],
    ['an unknown access mode', claim('RWX'), '/uploads/persistence/accessMode'],
    ['a list for a text', { config: { ORIGINS: ['a'] } }, '/config/ORIGINS'],
    ['a name that is no variable', { config: { 'log-level': 'debug' } }, '/config'],
    ['a memory limit of 0,5 Gi', { resources: { limits: { memory: '0,5Gi' } } }, '/resources/limits/memory'],
    ['a percentage over 100', { strategy: { maxSurge: '101%' } }, '/strategy/maxSurge'],
    ['a relative path', { uploads: { mountPath: 'uploads' } }, '/uploads/mountPath'],
    ['a collector without a scheme', { telemetry: { otlpEndpoint: 'collector:4318' } }, '/telemetry/otlpEndpoint'],
    ['an alert that does not exist', { prometheusRule: { thresholds: { Slow: 1 } } }, '/prometheusRule/thresholds'],
  ])('refuses %s', (_what, values, path) => expect(refusal(values)).toContain(`at '${path}'`));

  it('lets a parent chart pass global values and its condition', () => {
    expect(render({ global: { region: 'eu' }, enabled: true })).not.toEqual([]);
  });
});
