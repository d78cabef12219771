import { describe, expect, it } from 'vitest';
import { examples, type Manifest, objects, skipped, template } from './chart.ts';

interface Rule {
  name: string;
  /** Whether a pod keeps the rule. */
  kept(pod: Manifest): boolean;
  /** Breaks the rule in a pod that keeps it. */
  broken(pod: Manifest): void;
}

const containers = (pod: Manifest): Manifest[] => [...(pod.initContainers ?? []), ...pod.containers];
const each = (pod: Manifest, check: (security: Manifest, container: Manifest) => boolean): boolean =>
  containers(pod).every((container) => check(container.securityContext ?? {}, container));
const unset = (value: unknown) => value === undefined || value === false;
const volumeKinds = /^(configMap|csi|downwardAPI|emptyDir|ephemeral|persistentVolumeClaim|projected|secret)$/;
/** From Kubernetes 1.32 on. */
const safeSysctls = /^net\.ipv4\.tcp_[rw]mem$/;
const seccomp = /^(RuntimeDefault|Localhost)$/;

/** Pod Security Standards, baseline and restricted, rule by rule, for pods of Linux. */
const rules: Rule[] = [
  {
    name: 'HostProcess',
    kept: (pod) => each(pod, ({ windowsOptions }) => unset(windowsOptions?.hostProcess)),
    broken: (pod) => set(pod, { windowsOptions: { hostProcess: true } }),
  },
  {
    name: 'Host namespaces',
    kept: ({ hostNetwork, hostPID, hostIPC }) => [hostNetwork, hostPID, hostIPC].every(unset),
    broken: (pod) => Object.assign(pod, { hostPID: true }),
  },
  {
    name: 'Privileged containers',
    kept: (pod) => each(pod, ({ privileged }) => unset(privileged)),
    broken: (pod) => set(pod, { privileged: true }),
  },
  {
    name: 'HostPath volumes and volume types',
    kept: ({ volumes = [] }) =>
      volumes.every((volume: object) => Object.keys(volume).every((key) => key === 'name' || volumeKinds.test(key))),
    broken: (pod) => pod.volumes.push({ name: 'host', hostPath: { path: '/' } }),
  },
  {
    name: 'Host ports',
    kept: (pod) => each(pod, (_security, { ports = [] }) => ports.every(({ hostPort }: Manifest) => !hostPort)),
    broken: (pod) => Object.assign(pod.containers[0], { ports: [{ containerPort: 80, hostPort: 80 }] }),
  },
  {
    name: 'Host probes and lifecycle hooks',
    kept: (pod) =>
      each(pod, (_security, container) => !/"(httpGet|tcpSocket)":\{[^}]*"host":/.test(JSON.stringify(container))),
    broken: (pod) =>
      Object.assign(pod.containers[0], { livenessProbe: { httpGet: { path: '/', port: 80, host: '10.0.0.1' } } }),
  },
  {
    name: 'AppArmor and SELinux',
    kept: (pod) =>
      [pod.securityContext ?? {}, ...containers(pod).map(({ securityContext = {} }) => securityContext)].every(
        ({ appArmorProfile, seLinuxOptions }) =>
          appArmorProfile?.type !== 'Unconfined' && !seLinuxOptions?.user && !seLinuxOptions?.role,
      ),
    broken: (pod) => set(pod, { appArmorProfile: { type: 'Unconfined' } }),
  },
  {
    name: '/proc mount type',
    kept: (pod) => each(pod, ({ procMount = 'Default' }) => procMount === 'Default'),
    broken: (pod) => set(pod, { procMount: 'Unmasked' }),
  },
  {
    name: 'Sysctls',
    kept: ({ securityContext }) =>
      (securityContext?.sysctls ?? []).every(({ name }: Manifest) => safeSysctls.test(name)),
    broken: (pod) => Object.assign(pod.securityContext, { sysctls: [{ name: 'kernel.msgmax', value: '1' }] }),
  },
  {
    name: 'Privilege escalation',
    kept: (pod) => each(pod, ({ allowPrivilegeEscalation }) => allowPrivilegeEscalation === false),
    broken: (pod) => set(pod, { allowPrivilegeEscalation: undefined }),
  },
  {
    name: 'Running as non-root',
    kept: (pod) => each(pod, ({ runAsNonRoot }) => (runAsNonRoot ?? pod.securityContext?.runAsNonRoot) === true),
    broken: (pod) => set(pod, { runAsNonRoot: false }),
  },
  {
    name: 'Running as non-root user',
    kept: (pod) => pod.securityContext?.runAsUser !== 0 && each(pod, ({ runAsUser }) => runAsUser !== 0),
    broken: (pod) => set(pod, { runAsUser: 0 }),
  },
  {
    name: 'Seccomp',
    kept: (pod) =>
      each(pod, ({ seccompProfile }) =>
        seccomp.test((seccompProfile ?? pod.securityContext?.seccompProfile)?.type ?? ''),
      ),
    broken: (pod) => set(pod, { seccompProfile: { type: 'Unconfined' } }),
  },
  {
    name: 'Capabilities',
    kept: (pod) =>
      each(
        pod,
        ({ capabilities }) =>
          capabilities?.drop?.includes('ALL') &&
          (capabilities.add ?? []).every((name: string) => name === 'NET_BIND_SERVICE'),
      ),
    broken: (pod) => set(pod, { capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } }),
  },
];

function set(pod: Manifest, change: object): void {
  pod.containers[0].securityContext = { ...pod.containers[0].securityContext, ...change };
}

/** The pods of one example, by kind and name. */
function podsOf(file: string): { name: string; pod: Manifest }[] {
  return objects(template({}, '-f', file)).flatMap(({ kind, metadata, spec }) => {
    const pod = kind === 'Pod' ? spec : spec?.template?.spec;
    return pod ? [{ name: `${kind} ${metadata.name}`, pod }] : [];
  });
}

describe.skipIf(skipped('helm'))(`Pod Security restricted${skipped('helm')}`, () => {
  describe.each(rules)('$name', ({ kept, broken }) => {
    it.each(examples)('holds for every pod of $name values', ({ file }) => {
      const pods = podsOf(file);
      expect(pods.length).toBeGreaterThan(3);
      expect(pods.filter(({ pod }) => !kept(pod)).map(({ name }) => name)).toEqual([]);
    });

    it('is seen to be broken', () => {
      for (const { pod } of podsOf(examples[0]?.file ?? '')) {
        const changed = structuredClone(pod);
        broken(changed);
        expect(kept(changed)).toBe(false);
      }
    });
  });

  it('bounds what the kernel keeps of answers that nobody reads, from Kubernetes 1.32 on', () => {
    const file = examples[0]?.file ?? '';
    const sysctls = (version: string, values = {}) =>
      objects(template(values, '-f', file, '--kube-version', version)).flatMap(
        ({ spec }) => spec?.template?.spec?.securityContext?.sysctls ?? [],
      );
    expect(sysctls('1.31.9')).toEqual([]);
    expect(sysctls('1.32.0')).toContainEqual({ name: 'net.ipv4.tcp_wmem', value: '4096 16384 131072' });
    // A pod whose operator has chosen sysctls has these alone: a second list of them would be no valid YAML.
    const own = { name: 'net.ipv4.tcp_keepalive_time', value: '60' };
    const chosen = sysctls('1.32.0', { podSecurityContext: { sysctls: [own] } });
    expect(new Set(chosen.map(({ name }: Manifest) => name))).toEqual(new Set([own.name]));
  });

  it('is exceeded: the root is read-only, and user, group and volumes have one number', () => {
    for (const { file } of examples) {
      for (const { pod } of podsOf(file)) {
        const own = pod.containers.filter(({ name }: Manifest) => /^(service|migrate|test)$/.test(name));
        expect(own[0].securityContext.readOnlyRootFilesystem).toBe(true);
        expect(pod.securityContext).toMatchObject({ runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 });
      }
    }
  });
});
