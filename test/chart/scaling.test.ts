import { describe, expect, it } from 'vitest';
import { all, only, production, renderLive, skipped, type Values } from './chart.ts';
import { startCluster } from './cluster.ts';

const autoscaled: Values = { ...production, autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 8 } };

/** The Deployment as it runs, and by what its number of pods was set: helm, or a controller that scaled it. */
const deployment = (replicas: number, subresource?: string, operation = 'Apply') => ({
  '/apis/apps/v1/namespaces/shop/deployments/orders': {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'orders',
      namespace: 'shop',
      managedFields: [
        { manager: 'helm', operation },
        { manager: 'kube-controller-manager', operation: 'Update', subresource },
      ],
    },
    spec: { replicas },
  },
});
const replicasOf = (objects: { kind: string; spec: { replicas: number } }[]) =>
  objects.find(({ kind }) => kind === 'Deployment')?.spec.replicas;

describe.skipIf(skipped('helm'))(`the autoscaler${skipped('helm')}`, () => {
  it('is off', () => expect(all('HorizontalPodAutoscaler', production)).toEqual([]));

  it('keeps 2 to 10 pods at 70 % of their CPU request, counting the service alone', () => {
    const { spec } = only('HorizontalPodAutoscaler', { ...production, autoscaling: { enabled: true } });
    expect(spec).toMatchObject({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'orders' },
      minReplicas: 2,
      maxReplicas: 10,
      metrics: [
        {
          containerResource: { name: 'cpu', container: 'service', target: { averageUtilization: 70 } },
        },
      ],
    });
  });

  it('scales up at once and down slowly', () => {
    const { behavior } = only('HorizontalPodAutoscaler', autoscaled).spec;
    expect(behavior.scaleUp.stabilizationWindowSeconds).toBe(0);
    expect(behavior.scaleDown).toEqual({
      stabilizationWindowSeconds: 300,
      policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }],
    });
  });

  it('starts a new release with its fewest pods', () => expect(only('Deployment', autoscaled).spec.replicas).toBe(3));

  it.each([
    { running: 5, kept: 5 },
    { running: 12, kept: 8 },
    { running: 1, kept: 3 },
  ])('keeps $kept pods when it is switched on while $running run', async ({ running, kept }) => {
    await using cluster = await startCluster(deployment(running));
    expect(replicasOf(await renderLive(cluster.kubeconfig, autoscaled))).toBe(kept);
  });

  it('leaves its number alone once it has set one, so that upgrades and rollbacks do not quarrel with it', async () => {
    await using cluster = await startCluster(deployment(5, 'scale'));
    expect(replicasOf(await renderLive(cluster.kubeconfig, autoscaled))).toBeUndefined();
  });

  it('keeps its number where helm does not apply by the server, which would take one left out for 1', async () => {
    await using cluster = await startCluster(deployment(5, 'scale', 'Update'));
    expect(replicasOf(await renderLive(cluster.kubeconfig, autoscaled))).toBe(5);
  });

  it('is not asked while it is off', async () => {
    await using cluster = await startCluster(deployment(5, 'scale'));
    expect(replicasOf(await renderLive(cluster.kubeconfig, production))).toBe(2);
  });
});

describe.skipIf(skipped('helm'))(`the secret that the demo invents${skipped('helm')}`, () => {
  it('stays the same at every upgrade', async () => {
    const text = Buffer.from('invented at the first install').toString('base64');
    const data = { AUTH_JWT_SECRET: text, CURSOR_SECRET: text };
    await using cluster = await startCluster({
      '/api/v1/namespaces/shop/secrets/orders': {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'orders', namespace: 'shop' },
        data,
      },
    });
    const secrets = (await renderLive(cluster.kubeconfig, {})).filter(({ kind }) => kind === 'Secret');
    expect(secrets).toMatchObject([{ metadata: { name: 'orders' }, data }]);
  });
});
