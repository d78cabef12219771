import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { AppConfig } from '../config/app-config.ts';
import { chassisSettings } from '../config/chassis-settings.ts';
import type { Variables } from '../config/environment.ts';
import { importFile, sourceExtension, sourcesDirectory } from '../config/layout.ts';

/**
 * Secrets for a start of the service of which nobody hears: a random one for each that production needs and `env` lacks.
 *
 * @throws ConfigurationError where another setting has neither a value nor a default
 */
export async function inventedSecrets(env: Variables): Promise<Record<string, string>> {
  const { appConfig } = await importFile(join(sourcesDirectory, `app.config${sourceExtension}`));
  const { moduleSettings }: AppConfig = appConfig({ ...env, NODE_ENV: 'development' });
  const needed = Object.entries<unknown>({ ...chassisSettings, ...moduleSettings }).filter(
    ([name, schema]) =>
      schema instanceof z.ZodType && schema.meta()?.['requiredInProduction'] && !env[name] && !env[`${name}_FILE`],
  );
  return Object.fromEntries(needed.map(([name]) => [name, randomBytes(32).toString('base64url')]));
}
