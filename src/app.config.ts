import type { AppConfig } from './chassis/config/app-config.ts';
import { readEnvironment, type Variables } from './chassis/config/environment.ts';
import { authSettings } from './modules/auth/auth.config.ts';

/**
 * What this service is made of: its modules and its server settings.
 *
 * @param env the variables to read, such as `process.env`
 * @throws ConfigurationError with all problems
 */
export function appConfig(env: Variables): AppConfig {
  const moduleSettings = { ...authSettings };
  const settings = readEnvironment(moduleSettings, env);
  return {
    moduleSettings,
    modules: [
      { name: 'auth', enabled: true, routesPrefix: '/auth' },
      { name: 'users', enabled: true, routesPrefix: '/api/v1', includeRoutes: ['user.routes', 'profile.routes'] },
      { name: 'catalog', enabled: true, routesPrefix: '/api/v1' },
    ],
    server: {
      port: settings.PORT,
      enableCors: settings.ENABLE_CORS,
      enableSecurityHeaders: settings.ENABLE_SECURITY_HEADERS,
      enableCompression: settings.ENABLE_COMPRESSION,
      enableLogging: settings.ENABLE_LOGGING,
    },
  };
}
