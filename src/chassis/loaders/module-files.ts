import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sourceExtension } from '../config/layout.ts';
import type { Service } from '../service.ts';

/** A file of a module that is found by the ending of its name. */
export interface ModuleFile {
  readonly module: string;
  /** Below the module's directory. */
  readonly file: string;
  /** Absolute. */
  readonly path: string;
}

/**
 * The files `<x>.<role>.ts` of the enabled modules, in the order of the modules and by name within one. Modules whose
 * dependencies could not be registered are left out: the service runs without them and is not ready.
 */
export function moduleFiles(role: string, { modules, modulesDirectory, startUpReport }: Service): ModuleFile[] {
  const failed = new Set(
    startUpReport.failures.filter(({ loader }) => loader === 'loadDI').map(({ module }) => module),
  );
  const left = modules.filter((module) => !failed.has(module));
  return left.flatMap((module) =>
    filesOf(join(modulesDirectory, module), role).map((file) => {
      return { module, file, path: join(modulesDirectory, module, file) };
    }),
  );
}

function filesOf(directory: string, role: string): string[] {
  if (!existsSync(directory)) return [];
  const files = readdirSync(directory, { recursive: true }) as string[];
  return files.filter((file) => file.endsWith(`.${role}${sourceExtension}`)).sort();
}
