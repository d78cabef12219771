import type { AppConfig } from './chassis/config/app-config.ts';
import { readEnvironment } from './chassis/config/environment.ts';
import { authSettings } from './modules/auth/auth.config.ts';

/** What this service is made of: its modules and its server settings, from the environment. Raises ConfigurationError. */
export function appConfig(): AppConfig {
  const settings = readEnvironment(authSettings);
  return {
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
