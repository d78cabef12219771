import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readArguments } from '../../../load-tests/run/arguments.ts';
import { type ManifestArguments, manifest } from '../../../load-tests/run/manifest.ts';
import type { LoadReport } from '../../../load-tests/run/report.ts';
import { reportOfLogs } from '../../../load-tests/run/report-of-logs.ts';
import { freePort } from '../../../src/chassis/testing/fake-peer.ts';
import { type Manifest, root, skipped, tool } from '../../chart/chart.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';

const asked: ManifestArguments = {
  ...{ scenario: 'list-shallow', profile: 'load', target: 'http://slipway', kind: 'job' },
  ...{ resource: 'products', rate: '5', duration: '1s' },
};

function objects(changed: Partial<ManifestArguments> = {}): [config: Manifest, run: Manifest] {
  return manifest({ ...asked, ...changed })
    .split('\n---\n')
    .map((text) => JSON.parse(text)) as [Manifest, Manifest];
}

/** What a pod finds in its volume of the ConfigMap. */
function mounted({ binaryData }: Manifest): { folder: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'archive.tar');
  writeFileSync(file, Buffer.from(binaryData['archive.tar'], 'base64'));
  return { folder, file };
}

function variables({ env }: Manifest): Record<string, string> {
  // As Kubernetes does for the node that a pod runs on.
  const node = (value: string) => value.replace('$(NODE_NAME)', 'worker-1');
  return Object.fromEntries(env.map(({ name, value = '' }: Manifest) => [name, node(value)]));
}

function k6(cwd: string, args: string[], env: Record<string, string>) {
  return promisify(execFile)(tool('k6') ?? '', args, { cwd, env: { ...process.env, ...env } });
}

describe.skipIf(skipped('k6'))(`a manifest of a load test${skipped('k6')}`, () => {
  it('brings all that its scenario needs: k6 runs it from the ConfigMap alone', async () => {
    const { url } = await bootTestApp({ env: { RATE_LIMIT_ENABLED: 'false' } });
    const [config, job] = objects({ profile: 'smoke', target: url });
    const { folder, file } = mounted(config);
    const [container] = job.spec.template.spec.containers;
    const args = container.args.map((arg: string) => arg.replace('/test/archive.tar', file));
    const { stdout } = await k6(folder, args, variables(container));
    expect(stdout).toMatch(/^list-shallow +products +smoke +\d+.* ok$/m);
    expect(await reportOfLogs(Readable.from([stdout]), folder)).toBe(true);
    const { runs } = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as LoadReport;
    expect(runs[0]).toMatchObject({
      height: { rate: 5, seconds: 1 },
      origin: { machine: 'node worker-1', service: url, k6: 'docker.io/grafana/k6:2.2.0' },
    });
    expect(Date.now() - Date.parse(runs[0]?.started ?? '')).toBeLessThan(60_000);
  });

  it('runs as the k6 operator has a TestRun run: packed anew, inspected, started in a pause and resumed', async () => {
    const { url } = await bootTestApp({ env: { RATE_LIMIT_ENABLED: 'false' } });
    const [config, { spec }] = objects({ profile: 'smoke', target: url, kind: 'testrun' });
    const { folder, file } = mounted(config);
    // The initializer knows no variables: how many users there are at most stands in the archive.
    await k6(folder, ['archive', file, '-O', `${file}.archived.tar`], {});
    const inspected = await k6(folder, ['inspect', '--execution-requirements', `${file}.archived.tar`], {});
    expect(JSON.parse(inspected.stdout)).toMatchObject({ maxVUs: 20, totalDuration: '31s' });
    const address = `127.0.0.1:${await freePort()}`;
    const paused = ['run', '--quiet', file, `--address=${address}`, '--paused', '--tag', 'instance_id=1'];
    const ended = k6(folder, paused, variables(spec.runner));
    const resume = JSON.stringify({ data: { id: 'default', type: 'status', attributes: { paused: false } } });
    const asks = () => fetch(`http://${address}/v1/status`, { method: 'PATCH', body: resume }).then(({ ok }) => ok);
    await expect.poll(() => asks().catch(() => false)).toBe(true);
    const { stdout } = await ended;
    expect(await reportOfLogs(Readable.from([stdout]), folder)).toBe(true);
  });

  it('is printed whole into a pipe that is read slowly', async () => {
    const command = 'node load-tests/run.ts manifest list-shallow smoke --target http://slipway | { head -c 1; cat; }';
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: root, maxBuffer: 1e7 });
    const objects = stdout.split('\n---\n').map((text) => JSON.parse(text) as Manifest);
    expect(objects.map(({ kind }) => kind)).toEqual(['ConfigMap', 'TestRun']);
    expect(stdout.length).toBeGreaterThan(100_000);
  });

  it('takes an image of k6 of another registry', () => {
    const image = 'registry.example.com/k6:2';
    expect(objects({ image })[1].spec.template.spec.containers[0].image).toBe(image);
    const { initializer, runner } = objects({ image, kind: 'testrun' })[1].spec;
    expect([initializer.image, runner.image]).toEqual([image, image]);
  });

  it('is a Job that the restricted pod security standard admits, and that runs once', () => {
    const [config, { kind, spec }] = objects();
    expect(config.metadata.name).toBe('load-list-shallow');
    const pod = spec.template.spec;
    expect(kind).toBe('Job');
    expect(spec.backoffLimit).toBe(0);
    expect(pod).toMatchObject({
      restartPolicy: 'Never',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(pod.containers[0].securityContext).toEqual({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.volumes[0]).toEqual({ name: 'test', configMap: { name: config.metadata.name } });
  });

  it('is a TestRun of the k6 operator with the same script and variables', () => {
    const [config, { apiVersion, kind, spec }] = objects({ kind: 'testrun' });
    expect({ apiVersion, kind }).toEqual({ apiVersion: 'k6.io/v1alpha1', kind: 'TestRun' });
    expect(spec.script.configMap).toEqual({ name: config.metadata.name, file: 'archive.tar' });
    expect(spec.runner.env).toEqual(objects()[1].spec.template.spec.containers[0].env);
    expect(spec.runner.env).toContainEqual({ name: 'RESOURCE', value: 'products' });
    // A variable is put into those behind it.
    expect(spec.runner.env[0]).toEqual({ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } });
  });

  it('is asked for with a scenario and the address of the service', () => {
    const args = ['manifest', 'day', 'load', '--target', 'http://slipway', '--kind', 'job'];
    expect(readArguments(args, {})).toMatchObject({
      manifest: { scenario: 'day', profile: 'load', target: 'http://slipway', kind: 'job' },
    });
    expect(() => readArguments(['manifest', 'all', '--kind', 'pod'], {})).toThrow(
      /one scenario behind manifest.*got "all".*\n.*testrun or job; got "pod".*\n.*--target/,
    );
    for (const resource of ['products,users', 'all']) {
      expect(() => readArguments([...args, '--resource', resource], {})).toThrow(
        `a manifest is of one; got "${resource}"`,
      );
    }
    expect(() => readArguments([...args, '--duration', '5'], {})).toThrow('Expected --duration');
  });
});
