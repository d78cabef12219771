import { enableCompileCache, setSourceMapsSupport } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { guardProcess } from './chassis/lifecycle/process-guards.ts';
import { runCommand } from './chassis/lifecycle/run-command.ts';
import { runUntilSignal } from './chassis/lifecycle/shutdown.ts';

// A later start finds what this one compiled. NODE_COMPILE_CACHE names another place, as the image does.
enableCompileCache(join(import.meta.dirname, '../.cache/compiled'));
// The files of the build are bundles; stacks in logs and monitors name the sources.
setSourceMapsSupport(true);
guardProcess();

const [command, ...args] = process.argv.slice(2);
if (command !== undefined) await runCommand(command, args);

// Imported when signals are listened for already: as the first process of a container nothing else would end this one.
await runUntilSignal(async (stop) => {
  const { loadEnvFile } = await import('./chassis/config/environment.ts');
  const { appConfig } = await import('./app.config.ts');
  const { startService } = await import('./chassis/start.ts');
  loadEnvFile();
  return startService(appConfig(), { stop });
});
