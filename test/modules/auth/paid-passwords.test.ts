import { getRequestContext } from 'slipway';
import { expect, it } from 'vitest';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp();

it('a login pays for its password, so that at overload whoever sends many is refused first', async () => {
  const { sessionService } = app.service.container.cradle as unknown as {
    sessionService: { isKnownAddress(email: string, address: string): Promise<boolean> };
  };
  const charges: number[] = [];
  const known = sessionService.isKnownAddress.bind(sessionService);
  sessionService.isKnownAddress = (email, address) => {
    getRequestContext()?.onCharge?.((cost) => charges.push(cost));
    return known(email, address);
  };
  await app
    .post('/auth/login', { email: 'nobody@example.com', password: 'a password of nobody' })
    .expectError(401, /password/);
  // Then the audit event of the failed login is stored, which costs what every change does.
  expect(charges).toEqual([40, 15]);
});
