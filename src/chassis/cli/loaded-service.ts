import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppConfig } from '../config/app-config.ts';
import type { Variables } from '../config/environment.ts';
import { importFile, isPostgresqlOnly, sourceExtension, sourcesDirectory } from '../config/layout.ts';
import { connectOrm } from '../loaders/connect-orm.ts';
import { loadDI } from '../loaders/load-di.ts';
import { loadExpressApp } from '../loaders/load-express-app.ts';
import { loadRoutes } from '../loaders/load-routes.ts';
import { createService, type Service } from '../service.ts';

/**
 * Loads the service of the working directory as a start does, up to its routes, and hands it to `work`. Nothing listens
 * and no hook of a module runs. Its database is an empty SQLite file that is thrown away; only a service for PostgreSQL
 * takes that of DATABASE_URL, and changes nothing there.
 *
 * @throws Error where a module cannot be loaded, and what the start raises
 */
export async function withLoadedService<T>(env: Variables, work: (service: Service) => Promise<T> | T): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-routes-'));
  const database = isPostgresqlOnly() ? {} : { DATABASE_URL: `file:${join(directory, 'empty.db')}` };
  const quiet = { LOG_LEVEL: 'silent', LOG_TRANSPORT: undefined, REDIS_URL: undefined };
  const own = { ...env, ...database, ...quiet, DATABASE_MIGRATE: 'false', DATABASE_SEED: 'none' };
  const { appConfig } = await importFile(join(sourcesDirectory, `app.config${sourceExtension}`));
  const config: AppConfig = appConfig(own);
  const service = createService(config, { env: own });
  try {
    return await service.run(async () => {
      await load(service);
      return work(service);
    });
  } finally {
    await service.run(() => service.closers.closeAll());
    rmSync(directory, { recursive: true, force: true });
  }
}

async function load({ app, config, modules, startUpReport }: Service): Promise<void> {
  await connectOrm();
  await loadDI(modules);
  await loadExpressApp(app, config.server);
  await loadRoutes(app, config.modules);
  const [failure] = startUpReport.failures;
  if (!failure) return;
  const { module, file, error } = failure;
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(`Module ${module} cannot be loaded (${file}): ${reason}`, { cause: error });
}
