import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { importFile, sourceExtension } from '../config/layout.ts';
import { createContainer } from '../di/container.ts';
import { explainMissingDependency, MissingDependencyError } from '../di/missing-dependency.ts';
import type { Service } from '../service.ts';

/**
 * What to say of a part of a module that could not be loaded. Of a missing dependency it says also that the module's own
 * di file is not there or failed, or which disabled module provides it.
 */
export async function explainFailure(error: unknown, module: string, service: Service): Promise<unknown> {
  const explained = explainMissingDependency(error, service.container);
  if (!(explained instanceof MissingDependencyError)) return explained;
  const { dependency, message, cause } = explained;
  const hint = ownHint(module, service);
  if (hint !== undefined) return new MissingDependencyError(dependency, `${message} ${hint}`, { cause });
  for (const { name, enabled } of service.config.modules) {
    if (enabled || !(await provides(join(service.modulesDirectory, name), dependency))) continue;
    const text = `${message} Module ${name}, which is disabled in AppConfig, provides it.`;
    return new MissingDependencyError(dependency, text, { cause });
  }
  return explained;
}

/** Why a module may provide nothing itself. */
function ownHint(module: string, { modulesDirectory, startUpReport }: Service): string | undefined {
  const failed = startUpReport.failures.some((failure) => failure.loader === 'loadDI' && failure.module === module);
  if (failed) return `The di file of module ${module} failed, for the reason that was logged before.`;
  const file = `di${sourceExtension}`;
  return existsSync(join(modulesDirectory, module, file)) ? undefined : `Module ${module} has no ${file}.`;
}

/** Asks a module's di file, in a container of its own, in which nothing is made. */
async function provides(directory: string, dependency: string): Promise<boolean> {
  const container = createContainer();
  try {
    const { registerDependencies } = await importFile(join(directory, `di${sourceExtension}`));
    await registerDependencies(container);
  } catch {
    // A disabled module need not be there, nor be whole; it is only asked for a hint.
    return false;
  }
  return container.hasRegistration(dependency);
}
