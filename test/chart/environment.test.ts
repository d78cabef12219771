import { describe, expect, it } from 'vitest';
import { Drain } from '../../src/chassis/lifecycle/drain.ts';
import { examples, objects, production, read, servicePod, skipped, template, variables } from './chart.ts';

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

  it.each([
    { graceSeconds: 45, closerMs: 2000 },
    { graceSeconds: 43, closerMs: 2000 },
    { graceSeconds: 42, closerMs: 1875 },
    { graceSeconds: 40, closerMs: 875 },
  ])('ends whatever hangs before Kubernetes kills the pod: after $graceSeconds s', ({ graceSeconds, closerMs }) => {
    const { pod, container } = servicePod({ ...production, shutdown: { graceSeconds } });
    const { SHUTDOWN_ACCEPT_MS, SHUTDOWN_DEADLINE_MS, SHUTDOWN_CLOSER_TIMEOUT_MS } = variables(container);
    expect(SHUTDOWN_CLOSER_TIMEOUT_MS).toBe(String(closerMs));
    const times = {
      SHUTDOWN_ACCEPT_MS: Number(SHUTDOWN_ACCEPT_MS),
      SHUTDOWN_DEADLINE_MS: Number(SHUTDOWN_DEADLINE_MS),
    };
    // All closers together take twice the time of one, and a log that nobody reads is waited for 2 s.
    const longestMs = Drain.longestMs(times) + 2 * closerMs + 2000;
    const leftMs = 1000 * (pod.terminationGracePeriodSeconds - container.lifecycle.preStop.sleep.seconds);
    expect(longestMs).toBeLessThanOrEqual(leftMs);
  });

  it('has the longest time of closing in the README', () => {
    const closerMs = Number(variables(servicePod().container)['SHUTDOWN_CLOSER_TIMEOUT_MS']);
    const longestMs = Drain.longestMs({ SHUTDOWN_ACCEPT_MS: 0, SHUTDOWN_DEADLINE_MS: 0 }) + 2 * closerMs + 2000;
    expect(read('README.md')).toContain(`at most ${longestMs / 1000} s where everything hangs`);
  });

  it('leaves limits to the defaults of the service until values name them', () => {
    const limits = (values: object) =>
      Object.entries(variables(servicePod({ ...production, ...values }).container)).filter(([name]) =>
        /^(RATE_LIMIT|OVERLOAD)_/.test(name),
      );
    expect(limits({})).toEqual([]);
    expect(limits({ rateLimit: { requests: null }, overload: { enabled: null } })).toEqual([]);
    const rateLimit = { enabled: false, requests: 1_000_000_000, windowSeconds: 1 };
    const overload = { enabled: true, targetMs: 10, maxConcurrency: 1 };
    expect(Object.fromEntries(limits({ rateLimit, overload }))).toEqual({
      RATE_LIMIT_ENABLED: 'false',
      RATE_LIMIT_REQUESTS: '1000000000',
      RATE_LIMIT_WINDOW_SECONDS: '1',
      OVERLOAD_ENABLED: 'true',
      OVERLOAD_TARGET_MS: '10',
      OVERLOAD_MAX_CONCURRENCY: '1',
    });
  });

  it('keeps the heap within the memory limit, with room for the new objects of requests', () => {
    expect(variables(servicePod().container)['NODE_OPTIONS']).toBe(
      '--max-old-space-size-percentage=75 --max-semi-space-size=8',
    );
  });

  it('believes one proxy where there is one, and nobody else', () => {
    const trusted = (values: object) => variables(servicePod({ ...production, ...values }).container)['TRUST_PROXY'];
    expect(trusted({})).toBe('false');
    expect(trusted({ ingress: { enabled: true, hosts: ['a.example.com'] } })).toBe('1');
    expect(trusted({ httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] } })).toBe('1');
    expect(trusted({ trustProxy: 2 })).toBe('2');
    for (const nobody of [false, 0, 'false'])
      expect(trusted({ trustProxy: nobody, ingress: { enabled: true, hosts: ['a.example.com'] } })).toBe(`${nobody}`);
  });

  it('names the service, and its pod where there is a collector', () => {
    const plain = variables(servicePod(production).container);
    expect(plain['OTEL_SERVICE_NAME']).toBe('orders');
    expect(plain).not.toHaveProperty('OTEL_EXPORTER_OTLP_ENDPOINT');
    const traced = variables(
      servicePod({
        telemetry: {
          otlpEndpoint: 'http://collector:4318',
          resourceAttributes: { 'service.version': 'v1', teams: 'shop=50%,web' },
        },
      }).container,
    );
    expect(traced['OTEL_EXPORTER_OTLP_ENDPOINT']).toBe('http://collector:4318');
    expect(traced['OTEL_RESOURCE_ATTRIBUTES'].split(',')).toEqual(
      expect.arrayContaining([
        'service.version=v1',
        'teams=shop%3D50%25%2Cweb',
        'k8s.pod.name=$(POD_NAME)',
        'service.namespace=shop',
      ]),
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

function servicePodOf(file: string) {
  const [deployment] = objects(template({}, '-f', file)).filter(({ kind }) => kind === 'Deployment');
  return { container: deployment.spec.template.spec.containers[0] };
}
