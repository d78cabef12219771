import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../../load-tests/run/arguments.ts';
import { type ManifestArguments, manifest } from '../../../load-tests/run/manifest.ts';
import { reportOfLogs } from '../../../load-tests/run/report-of-logs.ts';
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

describe.skipIf(skipped('k6'))(`a manifest of a load test${skipped('k6')}`, () => {
  it('brings all that its scenario needs: k6 runs it from the ConfigMap alone', async () => {
    const { url } = await bootTestApp({ env: { RATE_LIMIT_ENABLED: 'false' } });
    const [config, job] = objects({ profile: 'smoke', target: url });
    const folder = mkdtempSync(join(tmpdir(), 'slipway-archive-'));
    try {
      const file = join(folder, 'archive.tar');
      writeFileSync(file, Buffer.from(config.binaryData['archive.tar'], 'base64'));
      const [container] = job.spec.template.spec.containers;
      const env = Object.fromEntries(container.env.map(({ name, value }: Manifest) => [name, value]));
      const args = container.args.map((arg: string) => arg.replace('/test/archive.tar', file));
      const { stdout } = await promisify(execFile)(tool('k6') ?? '', args, {
        cwd: folder,
        env: { ...process.env, ...env },
      });
      expect(stdout).toMatch(/^list-shallow +products +smoke +\d+.* ok$/m);
      expect(await reportOfLogs(Readable.from([stdout]), folder)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
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
  });

  it('is asked for with a scenario and the address of the service', () => {
    const args = ['manifest', 'day', 'load', '--target', 'http://slipway', '--kind', 'job'];
    expect(readArguments(args, {})).toMatchObject({
      manifest: { scenario: 'day', profile: 'load', target: 'http://slipway', kind: 'job' },
    });
    expect(() => readArguments(['manifest', 'all', '--kind', 'pod'], {})).toThrow(
      /one scenario behind manifest; got "all".*\n.*--target.*\n.*testrun or job; got "pod"/,
    );
  });
});
