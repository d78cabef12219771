/** The package's entry `slipway/testing`: what the tests of a service begin with. */

export type { TestPrincipal } from './act-as-named.ts';
export { bootTestService, type TestServiceOptions } from './boot-test-service.ts';
export { freePort } from './free-port.ts';
export { type PostgresServer, startPostgres } from './postgres.ts';
export { expectErrorBody, type Query, TestClient, type TestRequest } from './test-client.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export type { TestService } from './test-service.ts';
export { whenDone } from './when-done.ts';
