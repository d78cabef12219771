import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { findK6 } from './k6.ts';
import { scenarioFile } from './places.ts';
import { quiet, type ScenarioRun, variablesOf } from './scenario-run.ts';

/** A scenario as it is to run in a cluster, where its target is the address of the service inside. */
export interface ManifestArguments extends ScenarioRun {
  /** A `TestRun` of the k6 operator, or a `Job` where there is none. */
  readonly kind: 'testrun' | 'job';
  /** The image of k6. Default: that of Docker Hub. */
  readonly image?: string | undefined;
}

/** The largest ConfigMap that Kubernetes stores is 1 MiB; the archive stands in it as base64. */
const largestArchive = 700_000;
const k6Image = 'docker.io/grafana/k6:2.2.0';

/**
 * What `kubectl apply -f -` takes to run a scenario in a cluster: a ConfigMap with the scenario and all that it imports,
 * and a TestRun or a Job. Credentials come from the Secret `load-tests`, where there is one.
 */
export function manifest(asked: ManifestArguments): string {
  const name = `load-${asked.scenario}`;
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels },
    binaryData: { 'archive.tar': archive(asked).toString('base64') },
  };
  const objects = [config, asked.kind === 'job' ? job(name, asked) : testRun(name, asked)];
  return objects.map((object) => JSON.stringify(object, undefined, 2)).join('\n---\n');
}

const labels = { 'app.kubernetes.io/name': 'k6', 'app.kubernetes.io/part-of': 'load-tests' };
const resources = { requests: { cpu: '250m', memory: '128Mi' }, limits: { memory: '512Mi' } };
const envFrom = [{ secretRef: { name: 'load-tests', optional: true } }];
const podSecurity = { runAsNonRoot: true, runAsUser: 12_345, seccompProfile: { type: 'RuntimeDefault' } };
const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

const operatorPod = { securityContext: podSecurity, containerSecurityContext: restricted };

function testRun(name: string, asked: ManifestArguments): object {
  const { image = k6Image } = asked;
  return {
    apiVersion: 'k6.io/v1alpha1',
    kind: 'TestRun',
    metadata: { name, labels },
    spec: {
      parallelism: 1,
      script: { configMap: { name, file: 'archive.tar' } },
      // The operator's own pods have to be admitted as well.
      initializer: { ...operatorPod, image },
      starter: operatorPod,
      runner: { ...operatorPod, image, env: variables(asked), envFrom, resources },
    },
  };
}

function job(name: string, asked: ManifestArguments): object {
  const { image = k6Image } = asked;
  const container = {
    ...{ name: 'k6', image, imagePullPolicy: 'IfNotPresent' },
    args: ['run', '--quiet', '/test/archive.tar'],
    ...{ env: variables(asked), envFrom, resources, securityContext: { ...restricted, readOnlyRootFilesystem: true } },
    volumeMounts: [
      { name: 'test', mountPath: '/test', readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
  const pod = {
    ...{ restartPolicy: 'Never', automountServiceAccountToken: false, enableServiceLinks: false },
    securityContext: podSecurity,
    containers: [container],
    volumes: [
      { name: 'test', configMap: { name } },
      { name: 'tmp', emptyDir: {} },
    ],
  };
  // A load test that failed says something; another one would say something else.
  const spec = { backoffLimit: 0, ttlSecondsAfterFinished: 86_400, template: { metadata: { labels }, spec: pod } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, labels }, spec };
}

function variables(asked: ManifestArguments): object[] {
  const { image = k6Image } = asked;
  // Kubernetes puts in the node, by a variable that stands before.
  const origin = { machine: 'node $(NODE_NAME)', k6: image };
  const all = { ...variablesOf(asked), ...quiet, SUMMARY_LOG: 'true', LOAD_ORIGIN: JSON.stringify(origin) };
  return [
    { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    ...Object.entries(all).map(([name, value]) => ({ name, value })),
  ];
}

/** A scenario and what it imports as k6 packs it. It keeps the options, so it is made with the profile that it runs. */
function archive(asked: ManifestArguments): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-load-'));
  try {
    const file = join(folder, 'archive.tar');
    const env = Object.entries(variablesOf(asked)).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    execFileSync(findK6(), ['archive', '-O', file, ...env, scenarioFile(asked.scenario)], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...quiet },
    });
    const packed = readFileSync(file);
    if (packed.length <= largestArchive) return packed;
    throw new Error(
      `The archive of ${asked.scenario} has ${packed.length} bytes; a ConfigMap takes ${largestArchive}.`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
