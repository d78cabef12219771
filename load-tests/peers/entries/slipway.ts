/** The service with one module, whose one route touches no database. What is on is up to the environment. */
import { setSourceMapsSupport } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';

// The same as in the service's own main.ts, and so is the order.
setSourceMapsSupport(true);
const { readEnvironment } = await import('../../../src/chassis/config/environment.ts');
const { createService } = await import('../../../src/chassis/service.ts');

const { PORT, ENABLE_CORS, ENABLE_SECURITY_HEADERS, ENABLE_COMPRESSION, ENABLE_LOGGING } = readEnvironment(
  {},
  process.env,
);
const service = createService(
  {
    modules: [{ name: 'ping', enabled: true }],
    server: {
      port: PORT,
      enableCors: ENABLE_CORS,
      enableSecurityHeaders: ENABLE_SECURITY_HEADERS,
      enableCompression: ENABLE_COMPRESSION,
      enableLogging: ENABLE_LOGGING,
    },
  },
  { env: process.env, modulesDirectory: join(import.meta.dirname, '../modules') },
);
await service.start();
