import type { Request } from 'express';
import { expect, it, vi } from 'vitest';
import { loginOf } from '../../../src/modules/auth/caller.context.ts';

it('a login has its body parsed once, however many of its steps ask for it', async () => {
  const read = vi.fn(() => ({ email: ' USER@example.com', password: 'a password' }));
  const request = Object.defineProperty({}, 'body', { get: read }) as Request;
  const body = loginOf(request);
  expect(body).toEqual({ email: 'user@example.com', password: 'a password' });
  expect(loginOf(request)).toBe(body);
  expect(read).toHaveBeenCalledOnce();
});
