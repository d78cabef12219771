import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { asFunction, asValue } from 'awilix/browser';
import { addModuleSettings, environment } from '../config/environment.ts';
import { hasDatabase } from '../config/has-database.ts';
import { modulesDirectory, sourceExtension } from '../config/layout.ts';
import { orm } from '../database/client/orm.ts';
import { container } from '../di/container.ts';
import { recordFailure } from '../lifecycle/start-up-report.ts';
import { createCursorCodec } from '../query/cursor.ts';
import { logger } from '../telemetry/logger.ts';

declare global {
  namespace Slipway {
    interface Cradle extends ChassisCradle {}
  }
}

/** What the chassis itself puts into the container. */
interface ChassisCradle {
  orm: ReturnType<typeof orm>;
  settings: ReturnType<typeof environment>;
  logger: ReturnType<typeof logger>;
  cursors: ReturnType<typeof createCursorCodec>;
}

/**
 * Runs `registerDependencies` of each module's di file (spec.md: Loaders, loadDI). A module without a di file is
 * skipped; one whose file fails is logged and kept as a reason for not being ready, and the others are still loaded.
 *
 * @param modulesToLoad module names, which are directory names
 */
export async function loadDI(modulesToLoad: string[]): Promise<void> {
  container().register({
    orm: asFunction(orm).singleton(),
    settings: asFunction(environment).singleton(),
    logger: asFunction(logger).singleton(),
    cursors: asValue(createCursorCodec(cursorSecret())),
  });
  for (const name of modulesToLoad) {
    const file = ['di.ts', 'di.js'].find((candidate) => existsSync(join(modulesDirectory(), name, candidate)));
    if (file === undefined) {
      logger().info({ module: name }, 'module has no di file');
      continue;
    }
    try {
      await addSettingsOf(name);
      const { registerDependencies } = await import(pathToFileURL(join(modulesDirectory(), name, file)).href);
      if (typeof registerDependencies === 'function') await registerDependencies(container());
      logger().info({ module: name }, 'dependencies registered');
    } catch (error) {
      recordFailure({ loader: 'loadDI', module: name, file, error });
      logger().error({ err: error, module: name }, 'registering dependencies failed');
    }
  }
}

/** A module's settings are `<module>Settings` in its `<module>.config` file; most have been read before. */
async function addSettingsOf(module: string): Promise<void> {
  const file = join(modulesDirectory(), module, `${module}.config${sourceExtension}`);
  if (!existsSync(file)) return;
  const { [`${module}Settings`]: settings } = await import(pathToFileURL(file).href);
  addModuleSettings(settings);
}

/** The database's own address is a secret that all replicas share, so that one replica reads another's cursors. */
function cursorSecret(): string {
  const { CURSOR_SECRET, DATABASE_URL } = environment();
  return CURSOR_SECRET ?? (hasDatabase(DATABASE_URL) ? `cursor of ${DATABASE_URL}` : randomUUID());
}
