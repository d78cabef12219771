import type { z } from 'zod';
import type { Environment } from './environment.ts';

/** HTTP settings of the service (spec.md: ServerConfig). Every flag defaults to true. */
export interface ServerConfig {
  /** Listening port; 0 takes a free one. */
  port: number;
  enableCors?: boolean;
  enableSecurityHeaders?: boolean;
  enableCompression?: boolean;
  enableLogging?: boolean;
}

/** One feature module (spec.md: ModuleConfig). `includeRoutes` and `excludeRoutes` name route files, e.g. `user.routes`. */
export interface ModuleConfig {
  /** Also the directory name of the module. */
  name: string;
  enabled: boolean;
  /**
   * Put in front of every route of the module, e.g. `/api/v1`. With several, such as `['/api/v1', '/api/v2']`, the routes stand
   * below each of them, those of `defineRoutes(…, { prefix })` below the ones that it names.
   */
  routesPrefix?: string | readonly string[];
  includeRoutes?: string[];
  excludeRoutes?: string[];
}

/** What a service is made of (spec.md: AppConfig). */
export interface AppConfig {
  modules: ModuleConfig[];
  server: ServerConfig;
  /** Settings that modules add, so that they are read and refused together with the chassis' own. Default: none. */
  moduleSettings?: z.ZodRawShape;
}

/** The HTTP settings of a service as its environment gives them: PORT and the ENABLE_… variables. */
export function serverConfig(settings: Environment): ServerConfig {
  return {
    port: settings.PORT,
    enableCors: settings.ENABLE_CORS,
    enableSecurityHeaders: settings.ENABLE_SECURITY_HEADERS,
    enableCompression: settings.ENABLE_COMPRESSION,
    enableLogging: settings.ENABLE_LOGGING,
  };
}
