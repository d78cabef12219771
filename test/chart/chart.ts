import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';

/** The directory of package.json. */
export const root = join(import.meta.dirname, '../..');

/** The directory of the chart. */
export const chart = join(root, 'helm/slipway');

// biome-ignore lint/suspicious/noExplicitAny: a rendered object has the shape that the test is about to check.
export type Manifest = any;

/** Values of the chart, as `-f` would give them. */
export type Values = Record<string, unknown>;

/** Where a tool stands: where scripts/tools.sh has put it, on PATH, or beside a local cluster. */
export function tool(name: string): string | undefined {
  const path = (process.env['PATH'] ?? '').split(delimiter);
  const places = [join(root, '.cache/tools/bin'), ...path, join(homedir(), '.cache/local-kube/bin')];
  return places.map((place) => join(place, name)).find((file) => existsSync(file));
}

/** What the title of a test says where it is skipped, and nothing where its tools are there. */
export function skipped(...names: string[]): string {
  const missing = names.filter((name) => !tool(name));
  return missing.length === 0 ? '' : ` (skipped: no ${missing.join(', no ')}; scripts/tools.sh brings it)`;
}

/** The values files that every net is spread under, by name: `minimal`, `full` and so on. */
export const examples = globSync('ci/*-values.yaml', { cwd: chart })
  .toSorted()
  .map((file) => ({ name: basename(file, '-values.yaml'), file: join(chart, file) }));

/** The least that makes the chart render production. */
export const production: Values = { database: { existingSecret: 'orders-database' } };

const rendered = new Map<string, string>();

/** What `helm template orders` prints for these values and arguments. Raises what helm says. */
export function template(values: Values = {}, ...options: string[]): string {
  const key = JSON.stringify([values, options]);
  const known = rendered.get(key) ?? run(['template', 'orders', chart, '-n', 'shop', '-f', '-', ...options], values);
  rendered.set(key, known);
  return known;
}

function run(options: string[], values: Values): string {
  return execFileSync(tool('helm') ?? 'helm', options, {
    encoding: 'utf8',
    input: JSON.stringify(values),
    stdio: 'pipe',
  });
}

/** The objects of a rendered text; a key that stands twice is an error. */
export function objects(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors[0]) throw document.errors[0];
      return document.toJS();
    })
    .filter(Boolean);
}

/** The objects that these values render. */
export function render(values: Values = {}, ...options: string[]): Manifest[] {
  return objects(template(values, ...options));
}

/** The one object of a kind, and of a name if there are several; fails where there is none. */
export function only(kind: string, values: Values = {}, name?: string): Manifest {
  const found = render(values).filter((object) => object.kind === kind && (!name || object.metadata.name === name));
  if (found.length !== 1) throw new Error(`Expected one ${kind} ${name ?? ''}, found ${found.length}.`);
  return found[0];
}

/** Objects of a kind; none is an answer too. */
export function all(kind: string, values: Values = {}): Manifest[] {
  return render(values).filter((object) => object.kind === kind);
}

/** The pod template of the Deployment, and its container of the service. */
export function servicePod(values: Values = {}): { pod: Manifest; container: Manifest; annotations: Manifest } {
  const { spec, metadata } = only('Deployment', values).spec.template;
  return { pod: spec, container: spec.containers[0], annotations: metadata.annotations };
}

/** The variables of a container, by name: their text, or where it comes from. */
export function variables(container: Manifest): Record<string, Manifest> {
  return Object.fromEntries(container.env.map(({ name, value, valueFrom }: Manifest) => [name, value ?? valueFrom]));
}

/** What helm says when it refuses these values. */
export function refusal(values: Values, ...options: string[]): string {
  try {
    template(values, ...options);
  } catch (error) {
    return String((error as { stderr: string }).stderr);
  }
  throw new Error(`Expected helm to refuse ${JSON.stringify(values)}.`);
}

/** The same against a cluster that answers at `kubeconfig`, so that `lookup` finds what is there. */
export async function renderLive(kubeconfig: string, values: Values): Promise<Manifest[]> {
  const live = ['--dry-run=server', '--disable-openapi-validation', '--is-upgrade', '--kubeconfig', kubeconfig];
  const options = ['template', 'orders', chart, '-n', 'shop', '-f', '-', ...live];
  const running = promisify(execFile)(tool('helm') ?? 'helm', options, { encoding: 'utf8' });
  running.child.stdin?.end(JSON.stringify(values));
  return objects((await running).stdout);
}

/** The text of a file of the chart. */
export function read(path: string): string {
  return readFileSync(join(chart, path), 'utf8');
}

/** The content of a YAML file of the chart. */
export function readYaml(path: string): Manifest {
  return parse(read(path));
}
