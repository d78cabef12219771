import { describe, expect, it } from 'vitest';
import { all, type Manifest, only, production, servicePod, skipped, type Values, variables } from './chart.ts';

const url = 'postgresql://orders:secret@postgres:5432/orders';
const weight = ({ metadata }: Manifest) => Number(metadata.annotations['helm.sh/hook-weight']);

/** Every object of the release that a pod names and that it cannot start without. */
const named = (pod: Manifest): string[] =>
  [
    ...JSON.stringify(pod).matchAll(
      /"(?:secretKeyRef|configMapRef|secretRef|persistentVolumeClaim)":\{[^}]*?"(?:name|claimName)":"([^"]+)"/g,
    ),
  ].map(([, name = '']) => name);

describe.skipIf(skipped('helm'))(`migrations${skipped('helm')}`, () => {
  it('run before an install and an upgrade, and give up before helm does', () => {
    const { metadata, spec } = only('Job', production);
    expect(metadata.annotations).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
    });
    expect(spec).toMatchObject({ backoffLimit: 1, activeDeadlineSeconds: 240 });
    expect(spec.template.spec.restartPolicy).toBe('Never');
    expect(spec.template.spec.containers[0].args).toEqual(['migrate']);
  });

  it.each<[string, Values, string[]]>([
    ['a Secret that exists', production, ['orders-database']],
    ['a copy of the URL', { database: { url }, config: { LOG_LEVEL: 'debug' } }, ['orders-migrate']],
  ])('need nothing that helm makes after them: they use %s', (_what, values, secrets) => {
    const pod = only('Job', values).spec.template.spec;
    expect(pod).not.toHaveProperty('serviceAccountName');
    expect(named(pod)).toEqual(secrets);
  });

  it('find the copy of the URL there, and helm removes it with the Job', () => {
    const secret = only('Secret', { database: { url } }, 'orders-migrate');
    const job = only('Job', { database: { url } });
    expect(weight(secret)).toBeLessThan(weight(job));
    for (const annotation of ['helm.sh/hook', 'helm.sh/hook-delete-policy'])
      expect(secret.metadata.annotations[annotation]).toBe(job.metadata.annotations[annotation]);
    expect(Buffer.from(secret.data.DATABASE_URL, 'base64').toString()).toBe(url);
  });

  it.each(['hook', 'initContainer'])('do not run by %s for a service without a database', (mode) => {
    const values = { database: { url: 'none' }, migrations: { mode }, networkPolicy: { enabled: true } };
    expect(all('Job', values)).toEqual([]);
    expect(servicePod(values).pod.initContainers).toBeUndefined();
    expect(JSON.stringify(only('NetworkPolicy', values).spec.egress)).not.toContain('5432');
    expect(Buffer.from(only('Secret', values).data.DATABASE_URL, 'base64').toString()).toBe('none');
  });

  it('get the settings of the service', () => {
    const job = only('Job', { ...production, config: { LOG_LEVEL: 'debug' } });
    expect(variables(job.spec.template.spec.containers[0])).toMatchObject({
      LOG_LEVEL: 'debug',
      NODE_ENV: 'production',
    });
  });

  it('get no setting that stands in a file, because they have no volumes', () => {
    const config = { CURSOR_SECRET_FILE: '/run/secrets/cursor', LOG_LEVEL: 'debug' };
    const { container } = servicePod({ ...production, config });
    const job = only('Job', { ...production, config });
    expect(Object.keys(variables(job.spec.template.spec.containers[0]))).not.toContain('CURSOR_SECRET_FILE');
    expect(container.envFrom).toEqual([{ configMapRef: { name: 'orders' } }]);
  });

  it('run in every pod instead, with the whole environment of the service', () => {
    const values = { ...production, migrations: { mode: 'initContainer' } };
    const { pod, container } = servicePod(values);
    expect(all('Job', values)).toEqual([]);
    expect(pod.initContainers).toHaveLength(1);
    const [migrate] = pod.initContainers;
    expect(migrate).toMatchObject({ args: ['migrate'], env: container.env, volumeMounts: container.volumeMounts });
  });

  it('run nowhere when they are off', () => {
    const values = { database: { url }, migrations: { mode: 'none' } };
    expect(all('Job', values)).toEqual([]);
    expect(all('Secret', values).map(({ metadata }) => metadata.name)).toEqual(['orders']);
    expect(servicePod(values).pod).not.toHaveProperty('initContainers');
  });
});

describe.skipIf(skipped('helm'))(`uploads${skipped('helm')}`, () => {
  const kept = { ...production, uploads: { size: '5Gi', persistence: { enabled: true } } };

  it('live with their pod unless a claim keeps them', () => {
    expect(all('PersistentVolumeClaim', production)).toEqual([]);
    expect(servicePod(production).pod.volumes).toContainEqual({ name: 'uploads', emptyDir: { sizeLimit: '2Gi' } });
  });

  it('outlive the release in a claim that all pods share', () => {
    const { metadata, spec } = only('PersistentVolumeClaim', kept);
    expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(spec).toEqual({ accessModes: ['ReadWriteMany'], resources: { requests: { storage: '5Gi' } } });
    expect(servicePod(kept).pod.volumes).toContainEqual({
      name: 'uploads',
      persistentVolumeClaim: { claimName: metadata.name },
    });
  });

  it('go to a claim that exists', () => {
    const values = { ...production, uploads: { persistence: { enabled: true, existingClaim: 'files' } } };
    expect(all('PersistentVolumeClaim', values)).toEqual([]);
    expect(servicePod(values).pod.volumes).toContainEqual({
      name: 'uploads',
      persistentVolumeClaim: { claimName: 'files' },
    });
  });
});
