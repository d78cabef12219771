import { Buffer } from 'node:buffer';
import http from 'node:http';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'rolldown';

/** Exports of node:http that load the client of `fetch` when they are read. */
const ofFetch = ['WebSocket', 'CloseEvent', 'MessageEvent'];

/** Imports node:http without what it has of the client of `fetch`. Node reads every export of its modules on import. */
export const leanHttpPlugin: Plugin = {
  name: 'lean-http',
  resolveId: (id, _importer, { kind }) =>
    kind === 'import-statement' && /^(node:)?http$/.test(id) ? '\0lean-http' : undefined,
  load: (id) => {
    if (id !== '\0lean-http') return undefined;
    const names = Object.keys(http).filter((name) => name !== 'default' && !ofFetch.includes(name));
    return `const http = process.getBuiltinModule('node:http');
export default http;
export const { ${names.join(', ')} } = http;`;
  },
};

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
  transform(code, id) {
    if (!id.includes('otlp-grpc-exporter-base') || !grpc.test(code)) return undefined;
    const file = this.emitFile({ type: 'chunk', id: '@grpc/grpc-js', importer: id, name: 'grpc' });
    const load = `const loadGrpc = () => ${requireFile(file)}.default;`;
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
    const file = this.emitFile({ type: 'chunk', id: path, name });
    const called = (one: string) => `export function ${one}(...options) {
  const file = load();
  const { ${one}: loaded } = file.default ?? file;
  return new.target ? new loaded(...options) : loaded(...options);
}`;
    return [`const load = () => ${requireFile(file)};`, ...(lazy[name]?.names ?? []).map(called)].join('\n');
  },
  transform(code, id) {
    if (!/[\\/]compressible[\\/]index\.js$/.test(id) || !code.includes(tableOfTypes)) return undefined;
    const file = this.emitFile({ type: 'chunk', id: 'mime-db', importer: id, name: 'mime-db' });
    return {
      code: code.replace(tableOfTypes, `const load = () => ${requireFile(file)}.default`).replace(' db[', ' load()['),
      map: null,
    };
  },
};

/** Where the packages lie, of which there may be copies. */
const lazyFiles: string[] = [];
const tableOfTypes = "var db = require('mime-db')";
const grpc = /"@grpc\/grpc-js"/;

/** An expression that loads a file of the build in the middle of a function that does not wait. */
function requireFile(file: string): string {
  return `process.getBuiltinModule('node:module').createRequire(import.meta.url)(
  process.getBuiltinModule('node:url').fileURLToPath(import.meta.ROLLUP_FILE_URL_${file}))`;
}
