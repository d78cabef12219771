import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { crossOrigin } from '../../../../src/chassis/http/answers/cross-origin.ts';
import { bareApp, echoBody } from '../bare-app.ts';

const open = bareApp([crossOrigin({ origins: ['*'] }), echoBody]);
const listed = bareApp([crossOrigin({ origins: ['https://a.example', ' https://B.example/ '] }), echoBody]);

function preflight(app: typeof open, origin: string) {
  return request(app)
    .options('/x')
    .set({ origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' });
}

describe('crossOrigin for any origin', () => {
  it('allows every origin with constant headers', async () => {
    const { headers } = await request(open).get('/').set('origin', 'https://x.example');
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']).toContain('X-Request-Id');
    expect(headers).not.toHaveProperty('vary');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it('answers a preflight', async () => {
    const { status, headers } = await preflight(open, 'https://x.example');
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('PUT'),
      'access-control-allow-headers': 'authorization',
      'access-control-max-age': '600',
      vary: 'Access-Control-Request-Headers',
    });
  });

  it('lets an OPTIONS that is no preflight pass to the routes', async () => {
    expect((await request(open).options('/')).body).toEqual({ body: null });
  });
});

describe('crossOrigin for a list of origins', () => {
  it.each(['https://a.example', 'https://b.example'])('allows %s', async (origin) => {
    const { headers } = await request(listed).get('/').set('origin', origin);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers.vary).toBe('Origin');
  });

  it.each(['https://c.example', 'https://a.example.evil', 'null'])('does not allow %s', async (origin) => {
    const { headers } = await request(listed).get('/').set('origin', origin);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers.vary).toBe('Origin');
    const answer = await preflight(listed, origin);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('answers the preflight of an origin on the list', async () => {
    const { status, headers } = await preflight(listed, 'https://a.example');
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe('https://a.example');
    expect(headers.vary).toBe('Origin, Access-Control-Request-Headers');
  });

  it('adds to a Vary that is there', async () => {
    const app = bareApp([
      (_req, res, next) => {
        res.setHeader('Vary', 'Accept');
        next();
      },
      crossOrigin({ origins: ['https://a.example'] }),
      echoBody,
    ]);
    expect((await request(app).get('/')).headers.vary).toBe('Accept, Origin');
  });
});
