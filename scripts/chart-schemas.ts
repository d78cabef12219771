/**
 * Writes the JSON schemas that kubeconform holds the chart against into .cache/tools/schemas, by Kubernetes version: of
 * Kubernetes itself from its OpenAPI description, of other kinds from their CustomResourceDefinitions. All come from Go
 * modules, so that no schema server is asked. They are stricter than a cluster: unknown fields and nulls are refused.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** What of JSON schema, OpenAPI and CustomResourceDefinitions is read here. */
interface Schema {
  [keyword: string]: unknown;
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
}

interface CustomResourceDefinition {
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

/** The oldest Kubernetes that the chart supports, and the newest that it is tested on. */
const kubernetes = ['v1.30.0', 'v1.36.2'];

/** The kinds of Kubernetes that the chart makes, and those of others, by the module that defines them. */
const kinds =
  /^(ConfigMap|Secret|Service|ServiceAccount|PersistentVolumeClaim|Pod|Deployment|Job|HorizontalPodAutoscaler|PodDisruptionBudget|NetworkPolicy|Ingress)$/;
const customKinds: Record<string, string[]> = {
  'sigs.k8s.io/gateway-api@v1.4.0': ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': ['servicemonitors', 'prometheusrules'].map(
    (kind) => `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
  ),
};

const target = join(import.meta.dirname, '../.cache/tools/schemas');

function moduleDirectory(module: string): string {
  const described = execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8', cwd: '/' });
  return (JSON.parse(described) as { Dir: string }).Dir;
}

/** Closes every object that lists its fields and leaves no others open. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as Schema;
  if (schema.format === 'int-or-string') return { anyOf: [{ type: 'integer' }, { type: 'string' }] };
  const { description: _, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([keyword, part]) => [
      keyword,
      keyword === 'properties' ? mapValues(part as Record<string, Schema>, strict) : strict(part),
    ]),
  ) as Schema;
  const open = 'additionalProperties' in schema || schema['x-kubernetes-preserve-unknown-fields'] === true;
  return schema.properties && !open ? { ...rest, additionalProperties: false } : rest;
}

function mapValues<T, U>(map: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}

/** The definitions that a schema names, and those that they name. */
function reachable(schema: unknown, all: Record<string, Schema>, found: Record<string, unknown> = {}) {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g)) {
    if (name in found) continue;
    found[name] = all[name];
    reachable(all[name], all, found);
  }
  return found;
}

/** Under the name that kubeconform looks for: `deployment-apps-v1.json`, `service-v1.json`. */
function write(version: string, group: string, apiVersion: string, kind: string, schema: unknown): void {
  const name = [kind.toLowerCase(), group.split('.')[0], apiVersion].filter(Boolean).join('-');
  writeFileSync(join(target, version, `${name}.json`), JSON.stringify(schema));
}

function writeKubernetes(version: string): void {
  const file = join(moduleDirectory(`k8s.io/kubernetes@${version}`), 'api/openapi-spec/swagger.json');
  const described = JSON.parse(readFileSync(file, 'utf8')) as { definitions: Record<string, Schema> };
  const definitions = mapValues(described.definitions, (schema) => strict(schema) as Schema);
  definitions['io.k8s.apimachinery.pkg.api.resource.Quantity'] = { type: ['string', 'number'] } as unknown as Schema;
  for (const schema of Object.values(definitions)) {
    const [named] = schema['x-kubernetes-group-version-kind'] ?? [];
    if (!named || !kinds.test(named.kind)) continue;
    const { group, version: apiVersion, kind } = named;
    write(version, group, apiVersion, kind, { ...schema, definitions: reachable(schema, definitions) });
  }
}

function writeCustomKind(version: string, text: string): void {
  const { spec } = parse(text) as CustomResourceDefinition;
  for (const { name, schema } of spec.versions) {
    const { properties, ...rest } = strict(schema.openAPIV3Schema) as Schema;
    write(version, spec.group, name, spec.names.kind, {
      ...rest,
      properties: { ...properties, metadata: { type: 'object' } },
    });
  }
}

for (const version of kubernetes) {
  if (existsSync(join(target, version, 'complete'))) continue;
  mkdirSync(join(target, version), { recursive: true });
  writeKubernetes(version);
  for (const [module, files] of Object.entries(customKinds)) {
    const directory = moduleDirectory(module);
    for (const file of files) writeCustomKind(version, readFileSync(join(directory, file), 'utf8'));
  }
  writeFileSync(join(target, version, 'complete'), '');
}
console.log(`schemas: ${kubernetes.join(', ')} in ${target}`);
