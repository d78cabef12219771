import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppConfig, ModuleConfig } from '../../src/chassis/config/app-config.ts';
import { whenDone } from '../../src/chassis/testing/when-done.ts';
import { fixtureModules } from '../fixtures/service/app.config.ts';

const linked = join(import.meta.dirname, '../fixtures/modules-linked');

/**
 * A directory with the modules of test/fixtures/service and those of test/fixtures/modules-linked, until the test's file is done.
 *
 * @param others directories that stand there in place of modules, by their name
 */
export function linkedModules(others: Record<string, string> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-modules-'));
  const found = [fixtureModules, linked].flatMap((parent) =>
    readdirSync(parent).map((name) => [name, join(parent, name)] as const),
  );
  for (const [name, path] of Object.entries({ ...Object.fromEntries(found), ...others })) {
    symlinkSync(path, join(directory, name));
  }
  whenDone(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The configuration of a service with all of them; `changes` replaces that of some, by name. */
export function linkedConfig(changes: Record<string, Partial<ModuleConfig>> = {}) {
  return (config: AppConfig): AppConfig => {
    const more = readdirSync(linked).map((name) => ({ name, enabled: true, routesPrefix: '/api/v2' }));
    const modules = [...config.modules, ...more].map((module) => ({ ...module, ...changes[module.name] }));
    return { ...config, modules };
  };
}
