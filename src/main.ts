import { enableCompileCache, setSourceMapsSupport } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';

// Both hold for what is loaded after them. A later start finds what this one compiled, and stacks name the sources where
// the build made bundles of them. NODE_COMPILE_CACHE names another place, as the image does.
enableCompileCache(join(import.meta.dirname, '../.cache/compiled'));
setSourceMapsSupport(true);

const { guardProcess } = await import('./chassis/lifecycle/process-guards.ts');
guardProcess();

const [command, ...args] = process.argv.slice(2);
if (command !== undefined) {
  const { runCommand } = await import('./chassis/lifecycle/run-command.ts');
  await runCommand(command, args);
}

// Loaded before the rest: as the first process of a container nothing but a listener for signals would end this one.
const { runUntilSignal } = await import('./chassis/lifecycle/shutdown.ts');
await runUntilSignal(async () => {
  const { withEnvFile } = await import('./chassis/config/environment.ts');
  const { appConfig } = await import('./app.config.ts');
  const { reporters } = await import('./app.reporters.ts');
  const { createService } = await import('./chassis/service.ts');
  const env = withEnvFile(process.env);
  return createService(appConfig(env), { env, reporters });
});
