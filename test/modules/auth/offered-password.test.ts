import { expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

interface Documented {
  components: { schemas: { Register: { properties: { password: { example: string } } } } };
}

it('the password that the API page offers for a registration is one that can be registered', async () => {
  const app = await bootTestApp();
  const document = (await (await fetch(`${app.url}/api-docs.json`)).json()) as Documented;
  const password = document.components.schemas.Register.properties.password.example;
  const account = { email: 'offered@example.com', name: 'Offered', password };
  expect(await app.post('/auth/register', account)).toMatchObject({ status: 201 });
});
