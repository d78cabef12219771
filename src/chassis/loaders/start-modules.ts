import { importFile } from '../config/layout.ts';
import type { LifecycleFactory } from '../lifecycle/define-lifecycle.ts';
import { StartUpError } from '../lifecycle/start-up-report.ts';
import type { Service } from '../service.ts';
import { explainFailure } from './explain-failure.ts';
import { type ModuleFile, moduleFiles } from './module-files.ts';

/**
 * Runs the start hooks of the enabled modules, one after the other, and has their stop hooks run in reverse at the end.
 *
 * @throws StartUpError that names the module and the file whose hook failed, when one did
 * @throws StartStoppedError when the service was closed meanwhile
 */
export async function startModules(service: Service): Promise<void> {
  for (const found of moduleFiles('lifecycle', service)) {
    service.stopping.throwIfAborted();
    const began = performance.now();
    await startModule(found, service);
    const ms = Math.round(performance.now() - began);
    service.startUpReport.step({ module: found.module, file: found.file, ms }, 'module started');
  }
}

async function startModule({ module, file, path }: ModuleFile, service: Service): Promise<void> {
  try {
    const { default: factory } = await importFile(path);
    if (typeof factory !== 'function') {
      throw new StartUpError(
        `expected its default export to be defineLifecycle((cradle) => hooks), found ${factory === undefined ? 'none' : typeof factory}`,
      );
    }
    const { start, stop } = (factory as LifecycleFactory)(service.container.cradle);
    await start?.(service.stopping);
    if (stop) service.closers.add(`module ${module} (${file})`, stop);
  } catch (caught) {
    // A hook that ends by its signal raises an error of its own, such as an AbortError; the start was stopped all the same.
    service.stopping.throwIfAborted();
    const cause = await explainFailure(caught, module, service);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StartUpError(`Module ${module} could not start, because ${file} failed: ${reason}`, { cause });
  }
}
