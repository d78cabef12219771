/** The service with one module, whose one route touches no database. What is on is up to the environment. */
import { setSourceMapsSupport } from 'node:module';
import { join } from 'node:path';

// The same as in the service's own main.ts, and so is the order.
setSourceMapsSupport(true);
const { environment } = await import('../../../src/chassis/config/environment.ts');
const { useModulesDirectory } = await import('../../../src/chassis/config/layout.ts');
const { startService } = await import('../../../src/chassis/start.ts');

useModulesDirectory(join(import.meta.dirname, '../modules'));
const { PORT, ENABLE_CORS, ENABLE_SECURITY_HEADERS, ENABLE_COMPRESSION, ENABLE_LOGGING } = environment();
await startService({
  modules: [{ name: 'ping', enabled: true }],
  server: {
    port: PORT,
    enableCors: ENABLE_CORS,
    enableSecurityHeaders: ENABLE_SECURITY_HEADERS,
    enableCompression: ENABLE_COMPRESSION,
    enableLogging: ENABLE_LOGGING,
  },
});
