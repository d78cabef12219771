import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chart, examples, objects, root, skipped, template, tool } from './chart.ts';

const schemas = join(root, '.cache/tools/schemas');
const versions = globSync('*/complete', { cwd: schemas }).map((file) => file.replace('/complete', ''));
const without = skipped('helm', 'kubeconform') || (versions.length > 0 ? '' : ' (skipped: scripts/tools.sh schemas)');

/** What kubeconform says about the objects of a text; nothing if all hold. */
function problems(text: string, version: string): string[] {
  const location = join(schemas, version, '{{.ResourceKind}}{{.KindSuffix}}.json');
  const { stdout, stderr } = spawnSync(
    tool('kubeconform') ?? '',
    ['-strict', '-output', 'json', '-schema-location', location, '-'],
    { encoding: 'utf8', input: text },
  );
  if (stderr) throw new Error(stderr);
  const { resources } = JSON.parse(stdout) as { resources?: { kind: string; msg: string }[] };
  return (resources ?? []).map(({ kind, msg }) => `${kind}: ${msg}`);
}

describe.skipIf(skipped('helm'))(`helm${skipped('helm')}`, () => {
  it.each(examples)('finds nothing to say about the chart with $name values', ({ file }) => {
    const { status, stdout, stderr } = spawnSync(tool('helm') ?? '', ['lint', '--strict', chart, '-f', file], {
      encoding: 'utf8',
    });
    expect({ status, text: stdout + stderr }).toMatchObject({
      status: 0,
      text: expect.not.stringContaining('WARNING'),
    });
  });

  it('packages the chart', () => {
    const packed = execFileSync(tool('helm') ?? '', ['package', chart, '-d', join(root, '.cache/tools')], {
      encoding: 'utf8',
    });
    expect(existsSync(packed.trim().replace(/^.*: /, ''))).toBe(true);
  });
});

describe.skipIf(without)(`the schemas of Kubernetes${without}`, () => {
  describe.each(versions.length > 0 ? versions : ['of no version'])('%s', (version) => {
    it.each(examples)('know every field of the objects of $name values', ({ file }) => {
      expect(problems(template({}, '-f', file), version)).toEqual([]);
    });

    const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a, image: b}]\n';
    const other = (kind: string, spec: string, api = 'monitoring.coreos.com/v1') =>
      `apiVersion: ${api}\nkind: ${kind}\nmetadata: {name: a}\nspec: ${spec}\n`;

    it.each([
      ['a misspelt field', pod.replace('image:', 'imaeg: c, image:'), "additional properties 'imaeg' not allowed"],
      ['a misspelt field of the object', `${pod}statsu: {}\n`, "additional properties 'statsu' not allowed"],
      ['a wrong type', `${pod}  enableServiceLinks: "false"\n`, 'got string, want boolean'],
      ['a missing field', pod.replace('name: a, image', 'image'), "missing property 'name'"],
      ['a key that stands twice', `${pod}  hostNetwork: true\n  hostNetwork: false\n`, 'hostNetwork'],
      ['a value left empty', `${pod}  restartPolicy:\n`, 'got null, want string'],
      ['a kind without a schema', pod.replace('Pod', 'Pud'), 'could not find schema'],
      ['a misspelt field of a ServiceMonitor', other('ServiceMonitor', '{selector: {}, endpoint: []}'), "'endpoint'"],
      ['a rule without an expression', other('PrometheusRule', '{groups: [{name: a, rules: [{alert: b}]}]}'), "'expr'"],
      ['a misspelt field of an HTTPRoute', other('HTTPRoute', '{rule: []}', 'gateway.networking.k8s.io/v1'), "'rule'"],
    ])('catch %s', (_what, text, message) => {
      expect(problems(text, version).join()).toContain(message);
    });

    it('find nothing in the object that the errors are planted into', () => expect(problems(pod, version)).toEqual([]));
  });
});

describe.skipIf(skipped('helm'))(`rendered objects${skipped('helm')}`, () => {
  it.each(examples)('of $name values have one name each, the namespace and the labels', ({ file }) => {
    const made = objects(template({}, '-f', file)).filter(({ metadata }) => !/-(extra|text)$/.test(metadata.name));
    const names = made.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(names).toEqual([...new Set(names)]);
    for (const { metadata } of made) {
      expect(metadata).toMatchObject({
        namespace: 'shop',
        labels: { 'app.kubernetes.io/instance': 'orders', 'app.kubernetes.io/managed-by': 'Helm' },
      });
    }
  });
});
