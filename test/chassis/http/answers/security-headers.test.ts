import type express from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { securityHeaders } from '../../../../src/chassis/http/answers/security-headers.ts';
import { bareApp, echoBody } from '../bare-app.ts';

describe('securityHeaders', () => {
  it("sets helmet's headers and removes X-Powered-By", async () => {
    const { headers } = await request(bareApp([securityHeaders(), echoBody])).get('/');
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringContaining("default-src 'self'"),
      'strict-transport-security': expect.stringContaining('max-age='),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'no-referrer',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  it('stands on failures too', async () => {
    const app = bareApp([securityHeaders(), (_req, _res, next) => next(new Error('x'))]);
    expect((await request(app).get('/')).headers['x-content-type-options']).toBe('nosniff');
  });

  it('lets a page set a policy of its own', async () => {
    const page: express.RequestHandler = (_req, res) =>
      res.set('Content-Security-Policy', "script-src 'self'").send('page');
    const { headers } = await request(bareApp([securityHeaders(), page])).get('/');
    expect(headers['content-security-policy']).toBe("script-src 'self'");
  });
});
