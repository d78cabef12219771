import { Buffer } from 'node:buffer';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin, PluginContext } from 'rolldown';

/**
 * Reads the query compilers of the ORM from files. Its packages hold them as text, two million letters that would be
 * compiled as a program at each start, to be turned into bytes.
 */
export const wasmFilesPlugin: Plugin = {
  name: 'wasm-files',
  async load(id) {
    if (!id.endsWith('.wasm-base64.mjs')) return undefined;
    const { wasm } = await import(pathToFileURL(id).href);
    const name = basename(id).replace('-base64.mjs', '');
    const file = this.emitFile({ type: 'asset', name, source: Buffer.from(wasm, 'base64') });
    return `import { readFileSync } from 'node:fs';
export const wasm = readFileSync(new URL(import.meta.ROLLUP_FILE_URL_${file}));`;
  },
};

/**
 * Has the exporters of OpenTelemetry by gRPC load the gRPC of the build, once they send. They import a part of it at once,
 * a megabyte that few collectors are asked by, and ask for the rest at run time, where they would find none.
 */
export const oneGrpcPlugin: Plugin = {
  name: 'one-grpc',
  async transform(code, id) {
    if (!id.includes('otlp-grpc-exporter-base') || !grpc.test(code)) return undefined;
    const load = `const loadGrpc = () => ${await loadLateFor(id, this, '@grpc/grpc-js', 'grpc')};`;
    const lazy = code
      .replace('import * as grpc from "@grpc/grpc-js";', '')
      .replaceAll('__require("@grpc/grpc-js")', 'loadGrpc()')
      .replaceAll(' grpc.', ' loadGrpc().');
    return { code: `${load}\n${lazy}`, map: null };
  },
};

/** A package of which others take what they need not load at once: functions and classes. */
interface LazyPackage {
  of: RegExp;
  names: string[];
}

const ofExpress = /[\\/]node_modules[\\/](?:express|accepts|type-is|send)[\\/](?!.*node_modules)/;
const ofJobs = /[\\/]node_modules[\\/]pg-boss[\\/](?!.*node_modules)/;
const ofTelemetry = /[\\/]node_modules[\\/]@opentelemetry[\\/]sdk-node[\\/](?!.*node_modules)/;
const exporter = (name: string): LazyPackage => ({ of: ofTelemetry, names: [name] });
const lazy: Record<string, LazyPackage> = {
  'body-parser': { of: ofExpress, names: ['json', 'raw', 'text', 'urlencoded'] },
  qs: { of: ofExpress, names: ['parse'] },
  'mime-types': { of: ofExpress, names: ['contentType', 'lookup'] },
  'rrule-temporal': { of: ofJobs, names: ['RRuleTemporal'] },
  '@opentelemetry/exporter-zipkin': exporter('ZipkinExporter'),
  '@opentelemetry/exporter-prometheus': exporter('PrometheusExporter'),
  '@opentelemetry/exporter-trace-otlp-http': exporter('OTLPTraceExporter'),
  '@opentelemetry/exporter-trace-otlp-grpc': exporter('OTLPTraceExporter'),
  '@opentelemetry/exporter-metrics-otlp-grpc': exporter('OTLPMetricExporter'),
  '@opentelemetry/exporter-metrics-otlp-proto': exporter('OTLPMetricExporter'),
  '@opentelemetry/exporter-logs-otlp-http': exporter('OTLPLogExporter'),
  '@opentelemetry/exporter-logs-otlp-grpc': exporter('OTLPLogExporter'),
  '@opentelemetry/exporter-logs-otlp-proto': exporter('OTLPLogExporter'),
};

/**
 * Has Express load its parsers of bodies and of nested queries when a module asks for one, and the table of all media types
 * when it first looks into it. The chassis has its own parsers (http/bodies, query), theirs bring the tables of all
 * character sets, and its answers name their type. pg-boss loads what reads recurrence rules once it is given one, which
 * the schedules of the chassis are not. OpenTelemetry loads those of its exporters that the settings name, and with them TLS,
 * for which Node reads all of its certificates.
 */
export const lazyPackagesPlugin: Plugin = {
  name: 'lazy-packages',
  async resolveId(id, importer) {
    if (lazy[id]?.of.test(importer ?? '') !== true) return undefined;
    const file = await this.resolve(id, importer, { skipSelf: true });
    if (!file) return undefined;
    if (!lazyFiles.includes(file.id)) lazyFiles.push(file.id);
    return `\0lazy-${lazyFiles.indexOf(file.id)}-${id}`;
  },
  load(id) {
    const [, index, name = ''] = /^\0lazy-(\d+)-(.*)/.exec(id) ?? [];
    const path = lazyFiles[Number(index)];
    if (path === undefined) return undefined;
    const called = (one: string) => `export function ${one}(...options) {
  const { ${one}: loaded } = load();
  return new.target ? new loaded(...options) : loaded(...options);
}`;
    return [`const load = () => ${loadLate(this, path, name)};`, ...(lazy[name]?.names ?? []).map(called)].join('\n');
  },
  async transform(code, id) {
    if (!/[\\/]compressible[\\/]index\.js$/.test(id) || !code.includes(tableOfTypes)) return undefined;
    const load = `const load = () => ${await loadLateFor(id, this, 'mime-db', 'mime-db')}`;
    return { code: code.replace(tableOfTypes, load).replace(' db[', ' load()['), map: null };
  },
};

/** Where the packages lie, of which there may be copies. */
const lazyFiles: string[] = [];
const tableOfTypes = "var db = require('mime-db')";
const grpc = /"@grpc\/grpc-js"/;

const wholePrefix = '\0whole-';

/** Gives a module that is loaded late one export, whether it was written as CommonJS or not. */
export const wholeModulesPlugin: Plugin = {
  name: 'whole-modules',
  resolveId: (id) => (id.startsWith(wholePrefix) ? id : undefined),
  load: (id) =>
    id.startsWith(wholePrefix)
      ? `import * as all from ${JSON.stringify(id.slice(wholePrefix.length))};
export default Reflect.get(all, 'default') ?? all;`
      : undefined,
};

/**
 * An expression that loads a module in the middle of a function that does not wait.
 *
 * @param path absolute
 * @param name of the file that it gets
 */
function loadLate(build: PluginContext, path: string, name: string): string {
  const file = build.emitFile({ type: 'chunk', id: wholePrefix + path, name });
  return `require(process.getBuiltinModule('node:url').fileURLToPath(import.meta.ROLLUP_FILE_URL_${file})).default`;
}

/** The same for a package as a module finds it. */
async function loadLateFor(importer: string, build: PluginContext, request: string, name: string): Promise<string> {
  const file = await build.resolve(request, importer);
  return loadLate(build, file?.id ?? request, name);
}
