import { expect, it } from 'vitest';
import { bootTestApp } from '../../support/boot-test-app.ts';

it('works', async () => {
  const app = await bootTestApp();
  const r = await app.get('/api/v1/products/paginated');
  console.log(JSON.stringify(r.body).slice(0, 300));
  expect(r.status).toBe(200);
});
