/** The HEALTHCHECK of the image: asks the internal port as a liveness probe does. */
import { get } from 'node:http';
import process from 'node:process';

/** Ends the process with code 0 where the service is alive, with 1 where it is not. */
function checkHealth(): void {
  const { INTERNAL_HOST: host = '0.0.0.0', INTERNAL_PORT: port = '9464' } = process.env;
  const request = get(
    { host: host === '0.0.0.0' ? '127.0.0.1' : host, port, path: '/livez', timeout: 2000 },
    (answer) => process.exit(answer.statusCode === 200 ? 0 : 1),
  );
  request.on('timeout', () => process.exit(1));
  request.on('error', () => process.exit(1));
}

checkHealth();
