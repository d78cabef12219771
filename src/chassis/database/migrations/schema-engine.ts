import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import { importFile } from '../../config/layout.ts';
import type { DatabaseProvider } from '../client/database-url.ts';
import { providerModels } from '../models/provider-models.ts';

/** Everything in the database belongs to the models. */
export const schemaFilters = { externalTables: [], externalEnums: [] };

/** What is used of a global that TypeScript knows only together with the browser's. */
interface WebAssemblyApi {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>;
}

interface WasmModule {
  SchemaEngine: typeof SchemaEngine;
  __wbg_set_wasm(exports: Record<string, unknown>): void;
}

let loading: Promise<WasmModule> | undefined;

/**
 * Runs `work` with Prisma's schema engine, the one of `prisma migrate`, on a database. It is 5 MB of WebAssembly, loaded
 * on first use only.
 */
export async function withSchemaEngine<T>(
  provider: DatabaseProvider,
  factory: SqlMigrationAwareDriverAdapterFactory,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  loading ??= load();
  const { SchemaEngine: Engine } = await loading;
  const schema = datamodel(provider, '');
  const adapter = bindMigrationAwareSqlAdapterFactory(factory);
  const engine = await Engine.new({ datamodels: [[schema.path, schema.content]] }, () => undefined, adapter);
  try {
    return await work(engine);
  } finally {
    engine.free();
  }
}

/** Models as the engine reads them: those of the database that they are for. */
export function datamodel(provider: DatabaseProvider, models: string): { path: string; content: string } {
  return { path: 'schema.prisma', content: providerModels(provider, models) };
}

/** The package's own loader asks the runtime to import .wasm files, which Node does not do by itself. */
async function load(): Promise<WasmModule> {
  const path = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bindings: WasmModule = await importFile(path);
  const bytes = await readFile(path.replace(/\.js$/, '.wasm'));
  const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: WebAssemblyApi };
  const { instance } = await wasm.instantiate(bytes, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return bindings;
}
