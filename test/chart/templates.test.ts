import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { all, chart, only, read, readYaml, render, root, skipped, type Values } from './chart.ts';

const templates = globSync('templates/**/*.yaml', { cwd: chart }).toSorted();
const always = ['deployment', 'service', 'service-internal', 'readyz', 'metrics'];
const text = (file: string) => read(file);

describe('templates', () => {
  it.each(templates)('%s makes one kind of object, behind a guard on its first line', (file) => {
    const [first = ''] = text(file).split('\n');
    const made = text(file).match(/^kind: /gm)?.length ?? 0;
    expect(made).toBeLessThanOrEqual(1);
    if (!always.includes(basename(file, '.yaml'))) expect(first).toMatch(/^\{\{- (if|range) /);
  });

  it.each(templates)('%s takes names and labels from the helpers alone', (file) => {
    expect(text(file)).not.toMatch(/app\.kubernetes\.io|\.Release\.Name\b|\.Chart\./);
  });

  it('ask nothing of the cluster about the kinds that it knows', () => {
    for (const file of globSync('templates/**', { cwd: chart }).filter((name) => /\.\w+$/.test(name)))
      expect(text(file).replaceAll('.Capabilities.KubeVersion.Version', '')).not.toContain('Capabilities');
  });

  it('use every helper that there is', () => {
    const everything = globSync('templates/**', { cwd: chart })
      .filter((file) => /\.\w+$/.test(file))
      .map(text)
      .join('\n');
    const helpers = [...everything.matchAll(/define "([^"]+)"/g)].map(([, name = '']) => name);
    const used = (name: string) => everything.split(`"${name}"`).length > 2;
    expect(helpers.filter((name) => !used(name))).toEqual([]);
  });
});

describe('Chart.yaml', () => {
  it('has the version of the service as the default of its tag', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(readYaml('Chart.yaml')).toMatchObject({ appVersion: version, kubeVersion: '>=1.30.0-0' });
  });
});

describe.skipIf(skipped('helm'))(`names${skipped('helm')}`, () => {
  const nameOf = (values: Values) => only('Deployment', values).metadata.name;

  it('are the name of the release', () => expect(nameOf({})).toBe('orders'));
  it('follow nameOverride', () => expect(nameOf({ nameOverride: 'api' })).toBe('orders-api'));
  it('are fullnameOverride', () => expect(nameOf({ fullnameOverride: 'checkout' })).toBe('checkout'));

  it('stay within 63 characters', () => {
    const long = { fullnameOverride: 'a'.repeat(80), uploads: { persistence: { enabled: true } } };
    for (const { metadata } of render(long)) expect(metadata.name.length).toBeLessThanOrEqual(63);
  });

  it('are text where YAML would see something else', () => {
    const made = render({ fullnameOverride: 'null', config: { Y: 'on' }, priorityClassName: 'true' }, '-n', '123');
    for (const { metadata } of made)
      expect([metadata.name, metadata.namespace].map((name) => typeof name)).toEqual(['string', 'string']);
    expect(made.find(({ kind }) => kind === 'ConfigMap').data).toEqual({ Y: 'on' });
    expect(made.find(({ kind }) => kind === 'Deployment').spec.template.spec.priorityClassName).toBe('true');
  });

  it('have the tag as a label, cut to what a label may hold', () => {
    const version = (tag: string) =>
      only('Deployment', { image: { tag } }).metadata.labels['app.kubernetes.io/version'];
    expect(version(`${'a'.repeat(62)}.b`)).toBe('a'.repeat(62));
    expect(version('_1.0-')).toBe('1.0');
  });

  it('do not change what selects pods when the version changes', () => {
    const selectors = (tag: string) => only('Deployment', { image: { tag } }).spec.selector;
    expect(selectors('1.0.0')).toEqual(selectors('2.0.0'));
    expect(JSON.stringify(selectors('1.0.0'))).not.toContain('1.0.0');
  });
});

describe.skipIf(skipped('helm'))(`extra objects${skipped('helm')}`, () => {
  it('are templates, as text or as YAML', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ include "slipway.fullname" . }}-a' } };
    const written = stringify({ ...object, metadata: { name: '{{ .Release.Name }}-b' } });
    expect(all('ConfigMap', { extraObjects: [object, written] }).map(({ metadata }) => metadata.name)).toEqual([
      'orders-a',
      'orders-b',
    ]);
  });
});
