/** The service with one module, whose one route touches no database. What is on is up to the environment. */
import { join } from 'node:path';
import { environment } from '../../../src/chassis/config/environment.ts';
import { useModulesDirectory } from '../../../src/chassis/config/layout.ts';
import { startService } from '../../../src/chassis/start.ts';

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
