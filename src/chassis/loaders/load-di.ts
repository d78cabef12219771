import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asFunction, asValue } from 'awilix/browser';
import type { Configuration, Environment } from '../config/environment.ts';
import { importFile, sourceExtension } from '../config/layout.ts';
import { currentService } from '../context/current-service.ts';
import type { OrmClient } from '../database/client/orm-types.ts';
import { Events } from '../events/events.ts';
import { Jobs } from '../jobs/jobs.ts';
import { createCursorCodec } from '../query/paging/cursor.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { FileStore } from '../uploads/files/file-store.ts';
import { openFiles } from '../uploads/open-files.ts';
import { explainFailure } from './explain-failure.ts';

declare global {
  namespace Slipway {
    interface Cradle extends ChassisCradle {}
  }
}

/** What the chassis itself puts into the container; part of `Slipway.Cradle`. */
export interface ChassisCradle {
  orm: OrmClient;
  settings: Environment;
  logger: Logger;
  cursors: ReturnType<typeof createCursorCodec>;
  /** Where `receiveFile` stores files. */
  files: FileStore;
  events: Events;
  jobs: Jobs;
}

/**
 * Runs `registerDependencies` of each module's di file (spec.md: Loaders, loadDI). A module without a di file is
 * skipped; one whose file fails is logged and kept as a reason for not being ready, and the others are still loaded.
 *
 * @param modulesToLoad module names, which are directory names
 */
export async function loadDI(modulesToLoad: string[]): Promise<void> {
  const service = currentService();
  const { closers, configuration, container, database, logger, modulesDirectory, startUpReport } = service;
  const files = await openFiles(configuration.settings, { logger, metrics: service.metrics.outbound }, service.forms);
  closers.add('files', files.close);
  service.checkFiles = files.check;
  closers.add('loadDI', () => container.dispose());
  container.register({
    orm: asFunction(() => database.client).singleton(),
    settings: asValue(configuration.settings),
    logger: asValue(logger),
    files: asValue(files.store),
    cursors: asValue(createCursorCodec(configuration.settings.CURSOR_SECRET)),
    events: asValue(new Events()),
    jobs: asValue(new Jobs()),
  });
  for (const name of modulesToLoad) {
    const file = ['di.ts', 'di.js'].find((candidate) => existsSync(join(modulesDirectory, name, candidate)));
    if (file === undefined) {
      startUpReport.step({ module: name }, 'module has no di file');
      continue;
    }
    try {
      await addSettings(configuration, join(modulesDirectory, name, `${name}.config${sourceExtension}`), name);
      const { registerDependencies } = await importFile(join(modulesDirectory, name, file));
      configuration.add(registerDependencies?.settings ?? {});
      if (typeof registerDependencies === 'function') await registerDependencies(container);
      startUpReport.step({ module: name }, 'dependencies registered');
    } catch (caught) {
      const error = await explainFailure(caught, name, service);
      startUpReport.addFailure({ loader: 'loadDI', module: name, file, error });
      logger.error({ err: error, module: name }, 'registering dependencies failed');
    }
  }
}

/** A module's settings are `<module>Settings` in its `<module>.config` file; most have been read before. */
async function addSettings(configuration: Configuration, file: string, module: string): Promise<void> {
  if (!existsSync(file)) return;
  const { [`${module}Settings`]: settings } = await importFile(file);
  configuration.add(settings);
}
