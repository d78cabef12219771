import { describe, expect, it } from 'vitest';
import { all, examples, objects, only, production, skipped, template } from './chart.ts';

const hosts = { ingress: { enabled: true, hosts: ['orders.example.com'] } };
const route = { httpRoute: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['orders.example.com'] } };
const closed = { networkPolicy: { enabled: true } };
const policy = (values: object) => only('NetworkPolicy', { ...closed, ...values }).spec;
const opened = (name: string, port: number) => ({
  networkPolicy: { enabled: true, egress: { [name]: { port } } },
});
const ports = (rules: { ports?: { protocol: string; port: number | string }[] }[]) =>
  rules.map((rule) => (rule.ports ?? []).map(({ protocol, port }) => `${protocol} ${port}`).join(', '));

describe.skipIf(skipped('helm'))(`traffic${skipped('helm')}`, () => {
  it('reaches the service on one port, by name', () => {
    expect(only('Service', production, 'orders').spec).toMatchObject({
      type: 'ClusterIP',
      ports: [{ name: 'http', port: 80, targetPort: 'http' }],
    });
  });

  it.each(examples)('never reaches the internal port from outside the cluster: $name', ({ file }) => {
    const made = objects(template({}, '-f', file));
    for (const { spec } of made.filter(({ kind }) => /^(Ingress|HTTPRoute)$/.test(kind)))
      expect(JSON.stringify(spec)).not.toMatch(/internal|9464/);
    for (const { spec } of made.filter(({ kind }) => kind === 'Service'))
      expect(spec.clusterIP === 'None' ? 'inside' : JSON.stringify(spec.ports)).not.toMatch(/internal|9464/);
  });

  it('has a Service of its own for probes and metrics, whatever the type of the other', () => {
    const values = { service: { type: 'LoadBalancer' } };
    expect(only('Service', values, 'orders').spec.type).toBe('LoadBalancer');
    expect(only('Service', values, 'orders-internal').spec).toMatchObject({ clusterIP: 'None' });
  });

  it('comes through an Ingress', () => {
    expect(all('Ingress')).toEqual([]);
    expect(only('Ingress', hosts).spec.rules).toEqual([
      {
        host: 'orders.example.com',
        http: {
          paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'orders', port: { name: 'http' } } } }],
        },
      },
    ]);
  });

  it('comes through a Gateway', () => {
    expect(all('HTTPRoute')).toEqual([]);
    expect(only('HTTPRoute', route).spec).toEqual({
      parentRefs: [{ name: 'public' }],
      hostnames: ['orders.example.com'],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          backendRefs: [{ name: 'orders', port: 80 }],
        },
      ],
    });
  });
});

describe.skipIf(skipped('helm'))(`the network policy${skipped('helm')}`, () => {
  it('is off', () => expect(all('NetworkPolicy')).toEqual([]));

  it('leaves DNS open over UDP and TCP, to anywhere', () => {
    const [dns] = policy({}).egress;
    expect(ports([dns])).toEqual(['UDP 53, TCP 53']);
    expect(dns).not.toHaveProperty('to');
  });

  it('opens what the values use, and nothing else', () => {
    const inside = '';
    expect(ports(policy({}).egress)).toEqual(['UDP 53, TCP 53', inside]);
    expect(ports(policy(production).egress)).toEqual(['UDP 53, TCP 53', inside, 'TCP 5432']);
    const all = {
      ...production,
      redis: { existingSecret: 'redis' },
      nats: { existingSecret: 'nats' },
      uploads: { s3: { bucket: 'orders' } },
      telemetry: { otlpEndpoint: 'http://otel:4318' },
      sentry: { existingSecret: 'sentry' },
    };
    expect(ports(policy(all).egress)).toEqual([
      'UDP 53, TCP 53',
      inside,
      'TCP 5432',
      'TCP 6379',
      'TCP 4222',
      'TCP 443',
      'TCP 4318',
      'TCP 443',
    ]);
    expect(ports(policy({ redis: { url: 'redis://redis' } }).egress)).toEqual(['UDP 53, TCP 53', inside, 'TCP 6379']);
  });

  it.each([
    ['the database', { database: { url: 'postgresql://a:s:1@db:6432/orders?x=:1' } }, 6432],
    ['the database', { database: { url: 'postgresql://db/orders' } }, 5432],
    ['the database by its value', { database: { url: 'postgresql://db:6432/orders' }, ...opened('database', 1) }, 1],
    ['Redis', { redis: { url: 'rediss://:secret@[2001:db8::1]:6380/0' } }, 6380],
    ['Redis', { redis: { url: 'redis://[2001:db8::1]' } }, 6379],
    ['NATS', { nats: { url: 'nats://a:s@nats:4333' } }, 4333],
    ['several NATS', { nats: { url: 'nats://one:4333,nats://two:4334' } }, 4222],
    ['S3', { uploads: { s3: { bucket: 'orders', endpoint: 'http://minio:9000/x' } } }, 9000],
    ['S3', { uploads: { s3: { bucket: 'orders', endpoint: 'http://minio' } } }, 80],
    ['S3 of Amazon', { uploads: { s3: { bucket: 'orders' } } }, 443],
    ['Sentry', { sentry: { dsn: 'https://key@sentry:9000/1' } }, 9000],
    ['Sentry', { sentry: { dsn: 'http://key@sentry/1' } }, 80],
    ['the collector', { telemetry: { otlpEndpoint: 'http://collector:4319/otlp' } }, 4319],
    ['the collector', { telemetry: { otlpEndpoint: 'https://collector' } }, 443],
    ['the collector', { telemetry: { otlpEndpoint: 'http://collector' } }, 80],
    ['the collector by its value', { telemetry: { otlpEndpoint: 'http://collector' }, ...opened('otlp', 1) }, 1],
  ])('opens the port that the address of %s names: %j', (_what, values, port) => {
    expect(ports(policy(values).egress.slice(2))).toEqual([`TCP ${port}`]);
  });

  it('narrows where to, and takes further rules', () => {
    const to = [{ ipBlock: { cidr: '10.0.0.0/24' } }];
    const extra = { ports: [{ protocol: 'TCP', port: 5672 }] };
    const rule = (port: number) => ({ ports: [{ protocol: 'TCP', port }], to });
    const { egress } = policy({
      ...production,
      redis: { existingSecret: 'redis' },
      networkPolicy: {
        enabled: true,
        egress: { database: { to, port: 6432 }, redis: { to, port: 6380 } },
        extraEgress: [extra],
      },
    });
    expect(egress.slice(2)).toEqual([rule(6432), rule(6380), extra]);
  });

  it('lets everybody call the service, and only Prometheus and the release read metrics', () => {
    const { ingress, podSelector } = policy({});
    const [http, internal] = ingress;
    expect(http).toEqual({ ports: [{ protocol: 'TCP', port: 'http' }] });
    const prometheus = { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } };
    expect(internal.from).toEqual([{ namespaceSelector: {}, podSelector: prometheus }, { podSelector }]);
  });

  it('lets nobody but the release read metrics when internalFrom is empty', () => {
    const { ingress, podSelector } = policy({ networkPolicy: { enabled: true, internalFrom: [] } });
    expect(ingress[1].from).toEqual([{ podSelector }]);
  });

  it('lets helm test in when it lets only others in', () => {
    const peer = { namespaceSelector: { matchLabels: { team: 'orders' } } };
    const { ingress, podSelector } = policy({
      networkPolicy: { enabled: true, ingressFrom: [peer], internalFrom: [peer] },
    });
    for (const { from } of ingress) expect(from).toEqual([peer, { podSelector }]);
  });

  it('stands over every pod of the release', () => {
    expect(Object.keys(policy({}).podSelector.matchLabels)).toEqual([
      'app.kubernetes.io/name',
      'app.kubernetes.io/instance',
    ]);
  });
});
