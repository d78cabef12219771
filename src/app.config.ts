import { type AppConfig, type Reporter, readEnvironment, serverConfig, type Variables } from 'slipway';
import { authSettings } from './modules/auth/auth.config.ts';
import { ordersSettings } from './modules/orders/orders.config.ts';

/**
 * What this service is made of: its modules and its server settings.
 *
 * @param env the variables to read, such as `process.env`
 * @throws ConfigurationError with all problems
 */
export function appConfig(env: Variables): AppConfig {
  // Orders need somebody who takes payments.
  const hasPayments = Boolean(env.PAYMENTS_URL || env.PAYMENTS_URL_FILE);
  const moduleSettings = { ...authSettings, ...(hasPayments && ordersSettings) };
  return {
    moduleSettings,
    modules: [
      { name: 'auth', enabled: true, routesPrefix: '/auth' },
      { name: 'users', enabled: true, routesPrefix: '/api/v1', includeRoutes: ['user.routes', 'profile.routes'] },
      { name: 'catalog', enabled: true, routesPrefix: '/api/v1' },
      { name: 'orders', enabled: hasPayments, routesPrefix: '/api/v1' },
    ],
    server: serverConfig(readEnvironment(moduleSettings, env)),
  };
}

/**
 * Reporters beside the log, the metrics and Sentry. Each gets every exception that answers a request, and every crash;
 * `monitorReporter(pager)` passes on faults only.
 */
export const reporters: readonly Reporter[] = [];
