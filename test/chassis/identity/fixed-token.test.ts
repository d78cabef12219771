import type { RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { currentPrincipal } from '../../../src/chassis/context/request-context.ts';
import { requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { fixedToken } from '../../../src/chassis/identity/fixed-token.ts';
import { Guards } from '../../../src/chassis/identity/guards.ts';
import { bareApp } from '../http/bare-app.ts';

const next = 'the-token-that-comes-after-that-one';

/** What a service answers whose guards believe these tokens. */
async function answer(authorization: string, tokens = ['the-token-of-now', next]) {
  const auth = new Guards(fixedToken(tokens), { roles: ['admin', 'user'] });
  const tell: RequestHandler = (_req, res) => void res.json({ userId: currentPrincipal()?.userId });
  return request(bareApp([requestPipeline(), auth.role('admin'), tell]))
    .get('/')
    .set({ authorization });
}

describe('fixedToken', () => {
  it('takes each of its tokens for the administrator', async () => {
    for (const token of ['the-token-of-now', next]) {
      const { status, body } = await answer(`Bearer ${token}`);
      expect({ status, body }).toEqual({ status: 200, body: { userId: 'administrator' } });
    }
  });

  it('refuses any other token, and credentials of another kind', async () => {
    for (const authorization of ['Bearer another', 'Bearer ', 'Basic dTpw', `Bearer ${next}x`, '']) {
      expect((await answer(authorization)).status, authorization).toBe(401);
    }
  });

  it('cannot be made without a token, which would let nobody in', () => {
    expect(() => fixedToken([])).toThrow('at least one token');
  });
});
