/** The service with one module, whose one route touches no database. What is on is up to the environment. */
import { join } from 'node:path';
import process from 'node:process';
import { readEnvironment } from '../../../src/chassis/config/environment.ts';
import { createService } from '../../../src/chassis/service.ts';

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
void service.start();
