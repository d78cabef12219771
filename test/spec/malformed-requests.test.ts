import { expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';
import { describeMalformed } from './describe-malformed.ts';

const taking = await describeMalformed(await bootTestApp({ env: { BODY_LIMIT_BYTES: '1000' } }));

it('the API page names operations that take a body', () => {
  expect(taking).toContainEqual(['post', '/auth/login']);
  expect(taking).toContainEqual(['put', '/api/v1/products/01900000-0000-7000-8000-000000000000']);
});
