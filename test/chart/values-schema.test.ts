import { describe, expect, it } from 'vitest';
import { read, readYaml, refusal, render, skipped, type Values } from './chart.ts';

interface Schema {
  required?: string[];
  properties?: Record<string, Schema>;
}

/** The values that have to be there, by the keys that lead to them. */
function requiredPaths({ required = [], properties = {} }: Schema): string[][] {
  const inner = Object.entries(properties).flatMap(([key, value]) =>
    requiredPaths(value).map((path) => [key, ...path]),
  );
  return [...required.map((key) => [key]), ...inner];
}

/** Values with null at these paths. */
function withNull(paths: string[][]): Values {
  const values: Values = {};
  for (const path of paths) {
    let parent = values;
    for (const key of path.slice(0, -1)) {
      parent[key] ??= {};
      parent = parent[key] as Values;
    }
    parent[path.at(-1) ?? ''] = null;
  }
  return values;
}

describe.skipIf(skipped('helm'))(`the schema of the values${skipped('helm')}`, () => {
  /** Every object of values.yaml whose keys the chart reads, and the root. */
  const closed = (values: Values, path: string[] = []): string[][] => [
    path,
    ...Object.entries(values).flatMap(([key, value]) =>
      isObject(value) && Object.keys(value).length > 0 && !open.has(key) ? closed(value, [...path, key]) : [],
    ),
  ];
  const open = new Set(['startup', 'liveness', 'readiness', 'requests', 'limits', 'behavior', 'labels']);
  const isObject = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  for (const name of ['podSecurityContext', 'securityContext']) open.add(name);

  it.each(closed(readYaml('values.yaml')).map((path) => [path.join('.') || 'the root', path] as const))(
    'refuses a mistyped key in %s',
    (_title, path) => {
      const values = path.reduceRight<Values>((inner, key) => ({ [key]: inner }), { mistypedKey: 1 });
      expect(refusal(values)).toContain("additional properties 'mistypedKey' not allowed");
    },
  );

  it.each<[string, Values, string]>([
    ['a text for a number', { replicaCount: '2' }, '/replicaCount'],
    ['a fraction of a pod', { replicaCount: 1.5 }, '/replicaCount'],
    ['a negative number', { shutdown: { drainSeconds: -1 } }, '/shutdown/drainSeconds'],
    ['an unknown mode', { migrations: { mode: 'always' } }, '/migrations/mode'],
    ['an unknown access mode', { uploads: { persistence: { accessMode: 'RWX' } } }, '/uploads/persistence/accessMode'],
    ['a list for a text', { config: { ORIGINS: ['a'] } }, '/config/ORIGINS'],
    ['a name that is no variable', { config: { 'log-level': 'debug' } }, '/config'],
    ['a memory limit of 0,5 Gi', { resources: { limits: { memory: '0,5Gi' } } }, '/resources/limits/memory'],
    ['a percentage over 100', { strategy: { maxSurge: '101%' } }, '/strategy/maxSurge'],
    ['a relative path', { uploads: { mountPath: 'uploads' } }, '/uploads/mountPath'],
    ['a collector without a scheme', { telemetry: { otlpEndpoint: 'collector:4318' } }, '/telemetry/otlpEndpoint'],
    ['a limit of no request', { rateLimit: { requests: 0 } }, '/rateLimit/requests'],
    ['a limit that is empty', { rateLimit: { windowSeconds: '' } }, '/rateLimit/windowSeconds'],
    ['a flag as text', { overload: { enabled: 'yes' } }, '/overload/enabled'],
    ['half a request', { overload: { maxConcurrency: 1.5 } }, '/overload/maxConcurrency'],
    ['a target of overload below what the service takes', { overload: { targetMs: 9 } }, '/overload/targetMs'],
    [
      'a drain of more than an hour',
      { shutdown: { drainSeconds: 3601, graceSeconds: 4000 } },
      '/shutdown/drainSeconds',
    ],
    ['a collector without a host', { telemetry: { otlpEndpoint: 'http:///v1' } }, '/telemetry/otlpEndpoint'],
    ['a key that is empty', { redis: { existingSecretKey: '' } }, '/redis/existingSecretKey'],
    ['an alert that does not exist', { prometheusRule: { thresholds: { Slow: 1 } } }, '/prometheusRule/thresholds'],
  ])('refuses %s', (_what, values, path) => expect(refusal(values)).toContain(`at '${path}'`));

  it('names every section and value that null takes away and that the chart cannot do without', () => {
    const required = requiredPaths(JSON.parse(read('values.schema.json')));
    const parents = (path: string[]) => path.slice(0, -1).map((_key, index) => path.slice(0, index + 1).join('.'));
    const sections = new Set(required.flatMap(parents));
    const isSection = (path: string[]) => sections.has(path.join('.'));
    const depths = [required.filter((path) => !isSection(path)), required.filter((path) => path.length === 1)];
    for (const paths of [...depths, [['uploads', 'persistence']], [['networkPolicy', 'egress']]]) {
      const text = refusal(withNull(paths));
      expect(paths.filter((path) => !text.includes(`'${path.at(-1)}'`))).toEqual([]);
      expect(text).toMatch(/missing propert(y|ies)/);
    }
    expect(required.filter((path) => path.length === 1).length).toBeGreaterThan(20);
  });

  it('takes null for nothing elsewhere', () => {
    const required = new Set(requiredPaths(JSON.parse(read('values.schema.json'))).map((path) => path.join('.')));
    const free = (values: Values, path: string[] = []): string[][] =>
      Object.entries(values).flatMap(([key, value]) => {
        const own = [...path, key];
        if (!required.has(own.join('.'))) return [own];
        return isObject(value) ? free(value, own) : [];
      });
    const values = withNull(free(readYaml('values.yaml')));
    expect(render(values)).not.toEqual([]);
  });

  it('refuses an attribute with a comma in its name', () => {
    const values = { telemetry: { resourceAttributes: { 'a,b': 'c' } } };
    expect(refusal(values)).toContain("invalid propertyName 'a,b'");
  });

  it('lets a parent chart pass global values and its condition', () => {
    expect(render({ global: { region: 'eu' }, enabled: true })).not.toEqual([]);
  });
});
