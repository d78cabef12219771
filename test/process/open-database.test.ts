import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/chassis/database/client/orm.ts';
import { databaseProviders, emptyDatabase } from '../support/empty-database.ts';

type Compiler = new (bytes: Uint8Array) => object;

/** The types of Node leave it out. */
const wasm = (globalThis as unknown as { WebAssembly: { Module: Compiler } }).WebAssembly;
const { Module } = wasm;
let compiled = 0;

beforeAll(() => {
  wasm.Module = class extends Module {
    constructor(bytes: Uint8Array) {
      super(bytes);
      compiled += 1;
    }
  };
});
afterAll(() => {
  wasm.Module = Module;
});

describe.each(databaseProviders)('an open database on %s', (provider) => {
  it('has asked the server, and compiles the queries of the ORM once there are any', async () => {
    const { settings, remove } = await emptyDatabase(provider);
    compiled = 0;
    const { client, close } = await openDatabase(settings);
    expect(compiled).toBe(0);
    const asked = client as unknown as { $queryRawUnsafe(sql: string): Promise<unknown> };
    expect(await asked.$queryRawUnsafe('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(compiled).toBe(1);
    await close();
    await remove();
  });

  it('closes where the ORM was never asked', async () => {
    const { settings, remove } = await emptyDatabase(provider);
    const { pool, close } = await openDatabase(settings);
    await close();
    expect(pool?.ended ?? true).toBe(true);
    await remove();
  });
});
