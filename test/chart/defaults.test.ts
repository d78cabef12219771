import { describe, expect, it } from 'vitest';
import { all, examples, objects, only, production, render, servicePod, skipped, template } from './chart.ts';

const name = `the chart's defaults${skipped('helm')}`;

describe.skipIf(skipped('helm'))(name, () => {
  it('run two pods and replace them one by one, none missing', () => {
    expect(only('Deployment', production).spec).toMatchObject({
      replicas: 2,
      minReadySeconds: 5,
      revisionHistoryLimit: 3,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
  });

  it('give a pod 10 seconds to leave its endpoints, by a sleep that needs no binary, and 45 in all', () => {
    const { pod, container } = servicePod(production);
    expect(container.lifecycle).toEqual({ preStop: { sleep: { seconds: 10 } } });
    expect(pod.terminationGracePeriodSeconds).toBe(45);
  });

  it('probe by port name: a minute to start, half a minute to live, ten seconds to be ready', () => {
    const { container } = servicePod(production);
    const live = { httpGet: { path: '/livez', port: 'internal' } };
    expect(container.startupProbe).toMatchObject({ ...live, periodSeconds: 2, failureThreshold: 30 });
    expect(container.livenessProbe).toMatchObject({ ...live, periodSeconds: 10, failureThreshold: 3 });
    expect(container.readinessProbe).toMatchObject({
      httpGet: { path: '/readyz', port: 'internal' },
      periodSeconds: 5,
      failureThreshold: 2,
    });
    expect(container.ports).toEqual([
      { name: 'http', containerPort: 3000 },
      { name: 'internal', containerPort: 9464 },
    ]);
  });

  it('request CPU and memory, bound memory and never throttle', () => {
    const { container } = servicePod(production);
    expect(container.resources).toEqual({ requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } });
  });

  it('let the pod write to a bounded /tmp and to its uploads', () => {
    const { pod, container } = servicePod(production);
    expect(container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual([
      '/tmp',
      '/uploads',
    ]);
    expect(pod.volumes[0]).toEqual({ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } });
  });

  it('take the tag from the chart', () => {
    expect(servicePod(production).container.image).toMatch(/:\d+\.\d+\.\d+$/);
  });

  it('let a drain take one pod, and any pod that is not ready', () => {
    expect(only('PodDisruptionBudget', production).spec).toMatchObject({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    });
  });

  it('spread each ReplicaSet over zones and hosts, without refusing to schedule', () => {
    const { topologySpreadConstraints, ...rest } = servicePod(production).pod;
    expect(rest.affinity).toBeUndefined();
    const selected = only('Deployment', production).spec.selector;
    const both = {
      whenUnsatisfiable: 'ScheduleAnyway',
      matchLabelKeys: ['pod-template-hash'],
      labelSelector: selected,
    };
    expect(topologySpreadConstraints).toEqual([
      { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 1, ...both },
      { topologyKey: 'kubernetes.io/hostname', maxSkew: 1, ...both },
    ]);
  });

  it('make nothing that the cluster may not have, or that opens a way in', () => {
    const kinds = render(production).map(({ kind, metadata }) => (metadata.annotations?.['helm.sh/hook'] ? '' : kind));
    expect([...new Set(kinds)].filter(Boolean).toSorted()).toEqual([
      'Deployment',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
    ]);
  });
});

describe.skipIf(skipped('helm'))(`every pod${skipped('helm')}`, () => {
  const pods = examples.flatMap(({ name: example, file }) =>
    skipped('helm')
      ? []
      : objects(template({}, '-f', file)).flatMap((object) => {
          const spec = object.kind === 'Pod' ? object.spec : object.spec?.template?.spec;
          return spec ? [{ title: `${object.kind} ${object.metadata.name} of ${example}`, object, spec }] : [];
        }),
  );

  it.each(pods)('has no token and no links to Services: $title', ({ spec }) => {
    expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  });

  it.each(pods.filter(({ object }) => object.kind !== 'Deployment'))(
    'that is no service is selected by no Service, budget or Deployment: $title',
    ({ object }) => {
      const labels = (object.spec.template ?? object).metadata.labels;
      expect(labels['app.kubernetes.io/component']).toMatch(/^(migration|test)$/);
      for (const { spec } of all('Service')) expect(spec.selector['app.kubernetes.io/component']).toBe('service');
    },
  );
});

describe.skipIf(skipped('helm'))(`zero and empty values${skipped('helm')}`, () => {
  it('are taken as they are', () => {
    expect(only('Deployment', { ...production, replicaCount: 0 }).spec.replicas).toBe(0);
    expect(only('Deployment', { ...production, minReadySeconds: 0 }).spec.minReadySeconds).toBe(0);
    expect(only('Deployment', { ...production, revisionHistoryLimit: 0 }).spec.revisionHistoryLimit).toBe(0);
  });

  it('leave out what they empty', () => {
    const { pod, container } = servicePod({
      ...production,
      shutdown: { preStopSeconds: 0 },
      resources: { requests: null, limits: null },
      topologySpreadConstraints: [],
      nodeOptions: '',
      probes: { startup: null, liveness: null, readiness: null },
    });
    for (const field of ['lifecycle', 'startupProbe', 'livenessProbe', 'readinessProbe', 'resources'])
      expect(container).not.toHaveProperty(field);
    expect(pod).not.toHaveProperty('topologySpreadConstraints');
    expect(container.env.map(({ name: variable }: { name: string }) => variable)).not.toContain('NODE_OPTIONS');
  });

  it('replace a probe by one of another kind', () => {
    const { container } = servicePod({ probes: { liveness: { tcpSocket: { port: 'http' }, periodSeconds: 7 } } });
    expect(container.livenessProbe).toMatchObject({ tcpSocket: { port: 'http' }, periodSeconds: 7 });
    expect(container.livenessProbe).not.toHaveProperty('httpGet');
  });

  it('switch the budget off', () => {
    expect(all('PodDisruptionBudget', { pdb: { enabled: false } })).toEqual([]);
  });
});
