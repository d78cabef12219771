import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isMap, isScalar, type Pair, parse, parseDocument, type YAMLMap } from 'yaml';
import { chart, type Manifest, read, readYaml, render, skipped } from './chart.ts';

interface Value {
  /** `image.tag` */
  path: string;
  default: unknown;
  /** The sentence behind `# --` above it, if there is one. */
  comment: string | undefined;
}

/** The values of values.yaml that have a comment of their own, or should have one. */
function documentedValues(map: YAMLMap, path: string[] = [], first = ''): Value[] {
  return (map.items as Pair[]).flatMap(({ key, value }, index) => {
    if (!isScalar(key)) throw new Error(`Expected plain keys in values.yaml, found ${key} in ${path.join('.')}.`);
    // The comment of the first key of a map belongs to the map.
    const above = [index === 0 ? first : '', key.commentBefore].filter(Boolean).join('\n');
    const comment = /^ -- (.+)$/m.exec(above)?.[1];
    const own = [...path, String(key.value)];
    if (comment === undefined && isMap(value) && value.items.length > 0)
      return documentedValues(value, own, value.commentBefore ?? '');
    return [{ path: own.join('.'), default: isMap(value) || isNode(value) ? value.toJSON() : value, comment }];
  });
}

const isNode = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === 'object' && value !== null && 'toJSON' in value;

const document = parseDocument(read('values.yaml'));
const values = documentedValues(document.contents as YAMLMap, [], document.commentBefore ?? '');
const templates = globSync('templates/**', { cwd: chart })
  .filter((file) => /\.(yaml|tpl|txt)$/.test(file))
  .map((file) => [file, read(file)] as const);

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
}

const schema = JSON.parse(read('values.schema.json')) as Schema & { definitions: Record<string, Schema> };

/** The values that the schema names, as far as it names keys. */
function schemaPaths({ properties = {} }: Schema, path: string[] = []): string[] {
  return Object.entries(properties).flatMap(([key, inner]) =>
    inner.properties ? schemaPaths(inner, [...path, key]) : [[...path, key].join('.')],
  );
}

/** What the templates read: `.Values.a.b`, and the fields of a part that was put into a variable. */
function usedPaths(): string[] {
  return templates.flatMap(([, text]) => {
    const aliases = [...text.matchAll(/\{\{-? ?\$(\w+) := \$?\.Values\.([\w.]+) ?\}\}/g)];
    const direct = [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path);
    const indirect = aliases.flatMap(([, alias, path]) =>
      [...text.matchAll(new RegExp(`\\$${alias}\\.([\\w.]+)`, 'g'))].map(([, field]) => `${path}.${field}`),
    );
    const listed = text.includes('index $.Values.probes $name') ? ['startup', 'liveness', 'readiness'] : [];
    return [...direct, ...indirect, ...listed.map((name) => `probes.${name}`)];
  });
}

/** A default as the table shows it: short ones in full, long ones by a word. */
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 60 ? `\`${text}\`` : 'see values.yaml';
}

function table(): string {
  const rows = values.map(({ path, default: value, comment }) => `| \`${path}\` | ${shown(value)} | ${comment} |`);
  return ['| Value | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

describe('values.yaml', () => {
  it.each(values)('says what $path means, in one line without a full stop', ({ comment }) => {
    expect(comment).toMatch(/^[A-Z`].*[^.]$/);
    expect(comment).not.toContain('|');
  });

  it('has the values that the schema names, and no other', () => {
    const named = schemaPaths(schema).filter((path) => !['global', 'enabled'].includes(path));
    const covers = (path: string, other: string) => path === other || path.startsWith(`${other}.`);
    expect(named.filter((path) => !values.some((value) => covers(path, value.path)))).toEqual([]);
    expect(values.filter(({ path }) => !named.some((name) => covers(name, path))).map(({ path }) => path)).toEqual([]);
  });

  it('has the values that the templates read, and no other', () => {
    const used = usedPaths();
    const related = (one: string, other: string) => one === other || one.startsWith(`${other}.`);
    const all = values.map(({ path }) => path);
    expect(all.filter((path) => !used.some((read) => related(read, path)))).toEqual([]);
    expect(used.filter((read) => !all.some((path) => related(read, path) || related(path, read)))).toEqual([]);
  });
});

describe('the README of the chart', () => {
  const readme = read('README.md');
  const examples = [...readme.matchAll(/^##+ (.+?)$[^#]*?```yaml\n(.+?)```/gms)].map(([, title, yaml]) => ({
    title,
    yaml,
  }));

  it('has three worked examples, one of settings and one of a closed namespace', () =>
    expect(examples).toHaveLength(5));

  it.skipIf(skipped('helm')).each(examples)(`renders its example: $title${skipped('helm')}`, ({ yaml }) => {
    expect(render(parse(yaml ?? ''))).not.toEqual([]);
  });

  it('has the times of the probes and of the end of a pod as they are', () => {
    const { shutdown, probes } = readYaml('values.yaml');
    for (const [name, seconds] of Object.entries(shutdown))
      expect(readme).toContain(`\`shutdown.${name}\` (${seconds})`);
    const end = shutdown.preStopSeconds + shutdown.drainSeconds;
    const marks = [0, shutdown.preStopSeconds, shutdown.preStopSeconds + 1, end, shutdown.graceSeconds];
    expect(readme).toMatch(new RegExp(`^seconds +${marks.join(' +')}$`, 'm'));
    for (const [name, { httpGet, periodSeconds, failureThreshold }] of Object.entries<Manifest>(probes)) {
      const times = failureThreshold === 2 ? 'twice' : `${failureThreshold} times`;
      expect(readme).toContain(`| ${name} | \`${httpGet.path}\`, every ${periodSeconds} s, ${times} |`);
    }
  });

  it('has a row for every alert, with its threshold and its time', () => {
    for (const { alert, expr, for: time = 'at once' } of readYaml('files/alerts.yaml').groups[0].rules) {
      const [, row = ''] = new RegExp(`^\\| ${alert} \\| (.+) \\|$`, 'm').exec(readme) ?? [];
      const threshold = Number(/> ([0-9.]+)$/.exec(expr)?.[1]);
      const texts = [
        `${threshold}`,
        `${threshold * 100} %`,
        ...(threshold === 0 ? ['wait'] : []),
        ...(threshold === 2 ? ['twice'] : []),
      ];
      expect(
        texts.some((text) => row.includes(text)),
        row,
      ).toBe(true);
      expect(row).toMatch(new RegExp(`${time.replace('m', ' min')}$`));
    }
  });

  // When values changed on purpose: npm test -- test/chart/values -u
  it('has the table of values as values.yaml has them', async () => {
    const written = /\| Value \|.*?\n(?!\|)/s;
    expect(read('README.md')).toMatch(written);
    await expect(read('README.md').replace(written, () => `${table()}\n`)).toMatchFileSnapshot(
      join(chart, 'README.md'),
    );
  });
});
