import exec from 'k6/execution';
import http from 'k6/http';
import type { ApiDocument } from '../contract/openapi.ts';

/** The service under load, from BASE_URL. */
export const target = (__ENV['BASE_URL'] ?? 'http://localhost:3000').replace(/\/$/, '');

/** Files are read before the run starts. */
const given = __ENV['OPENAPI_FILE'] ? open(__ENV['OPENAPI_FILE']) : undefined;

/** Reads the OpenAPI document of the target, or ends the run with what to do where there is none. */
export function readDocument(): ApiDocument {
  if (given !== undefined) return JSON.parse(given) as ApiDocument;
  const url = `${target}/api-docs.json`;
  const response = http.get(url, { timeout: '10s', tags: { name: 'setup' } });
  if (response.status === 0) {
    return refuse(
      `nothing answers at ${target} (${response.error}). Start the service, or give BASE_URL of one that runs.`,
    );
  }
  if (response.status === 200) return JSON.parse(String(response.body)) as ApiDocument;
  return refuse(
    `${url} answered ${response.status}, expected 200. Paths and fields come from this document: set ENABLE_OPENAPI=true, or give it as OPENAPI_FILE.`,
  );
}

/** Ends the run before it starts, with a reason that says what to do. */
export function refuse(reason: string): never {
  exec.test.abort(`Target refused: ${reason}`);
  throw new Error(reason);
}
