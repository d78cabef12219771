/** The package's entry `slipway/testing`: what the tests of a service begin with. */

export type { TestPrincipal } from './act-as-named.ts';
export { bootTestService, startTestService, type TestServiceOptions } from './boot-test-service.ts';
export { type FakeCollector, fakeCollector } from './fake-collector.ts';
export { FakePeer, freePort, inTurn, jsonAnswer, type Received } from './fake-peer.ts';
export { type PostgresServer, startPostgres } from './postgres.ts';
export { type SentryEvent, SentryIngest } from './sentry-ingest.ts';
export { expectErrorBody, type Query, TestClient, type TestRequest } from './test-client.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { TestService } from './test-service.ts';
export { whenDone } from './when-done.ts';
