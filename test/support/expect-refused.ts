import { expect } from 'vitest';
import type { Query, TestClient } from '../../src/chassis/testing/test-client.ts';

/** Expects a 400 whose details name the query parameter (spec.md: Errors, body rule 5). */
export async function expectRefused(client: TestClient, path: string, query: Query, parameter: string): Promise<void> {
  const { body } = await client.get(path, query).expectError(400, 'Invalid request data');
  expect(body.details.issues[0].path).toMatch(new RegExp(`^${parameter}`));
}
