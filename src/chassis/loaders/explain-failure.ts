import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sourceExtension } from '../config/layout.ts';
import { createContainer } from '../di/container.ts';
import { explainMissingDependency, MissingDependencyError } from '../di/missing-dependency.ts';
import type { Service } from '../service.ts';

/** What to say of a part of a module that could not be loaded: of a missing dependency also which disabled module has it. */
export async function explainFailure(error: unknown, service: Service): Promise<unknown> {
  const explained = explainMissingDependency(error, service.container);
  if (!(explained instanceof MissingDependencyError)) return explained;
  const { dependency, message, cause } = explained;
  for (const { name, enabled } of service.config.modules) {
    if (enabled || !(await provides(join(service.modulesDirectory, name), dependency))) continue;
    const text = `${message} Module ${name}, which is disabled in AppConfig, provides it.`;
    return new MissingDependencyError(dependency, text, { cause });
  }
  return explained;
}

/** Asks a module's di file, in a container of its own, in which nothing is made. */
async function provides(directory: string, dependency: string): Promise<boolean> {
  const container = createContainer();
  try {
    const { registerDependencies } = await import(pathToFileURL(join(directory, `di${sourceExtension}`)).href);
    await registerDependencies(container);
  } catch {
    // A disabled module need not be there, nor be whole; it is only asked for a hint.
    return false;
  }
  return container.hasRegistration(dependency);
}
