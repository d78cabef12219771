/** The service with one module, whose one route touches no database. What is on is up to the environment. */
import { join } from 'node:path';
import { environment } from '../../../dist/chassis/config/environment.js';
import { useModulesDirectory } from '../../../dist/chassis/config/layout.js';
import { startService } from '../../../dist/chassis/start.js';

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
