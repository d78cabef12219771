/** The package's entry `slipway/run`: the process of a service. It loads nothing until it is called. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import type { AppConfig } from './config/app-config.ts';
import type { Variables } from './config/environment.ts';
import { sourcesDirectory } from './config/layout.ts';
import type { Reporter } from './errors/reporters/reporter.ts';

/** What a service is made of. */
export interface Composition {
  /** Its modules and its server settings. @throws ConfigurationError with all problems */
  appConfig(env: Variables): AppConfig;
  /** Receive every exception that answers a request, and what ends the process. Default: none. */
  reporters?: readonly Reporter[];
}

/**
 * Runs a service until a signal ends the process: with code 0, or 1 when the start failed, a request was cut or something
 * could not be closed. With an argument it runs that command instead: `migrate`, or `seed --size small`. Variables of a
 * file `.env` in the working directory are added to those of the environment.
 *
 * @param compose loads what the service is made of, once the process is guarded: `() => import('./app.config.ts')`
 */
export async function runService(compose: () => Promise<Composition>): Promise<void> {
  // A later start finds what this one compiled of the packages. NODE_COMPILE_CACHE names another place, as the image does.
  enableCompileCache(join(sourcesDirectory, '../.cache/compiled'));
  const { guardProcess } = await import('./lifecycle/process-guards.ts');
  guardProcess();
  const [command, ...args] = process.argv.slice(2);
  if (command !== undefined) {
    const [{ runCommand }, { withEnvFile }] = await Promise.all([
      import('./cli/run-command.ts'),
      import('./config/environment.ts'),
    ]);
    await runCommand(command, args, withEnvFile(process.env));
  }
  // Loaded before the rest: as the first process of a container nothing but a listener for signals would end this one.
  const [{ runUntilSignal }, { boundYoungGeneration }] = await Promise.all([
    import('./lifecycle/shutdown.ts'),
    import('./lifecycle/young-generation.ts'),
  ]);
  boundYoungGeneration(process.env['NODE_OPTIONS']);
  await runUntilSignal(async () => {
    const { withEnvFile } = await import('./config/environment.ts');
    const { appConfig, reporters } = await compose();
    const { createService } = await import('./service.ts');
    const env = withEnvFile(process.env);
    return createService(appConfig(env), { env, reporters });
  });
}
