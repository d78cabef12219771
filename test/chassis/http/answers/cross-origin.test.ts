import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { answerPreflights } from '../../../../src/chassis/http/answers/cross-origin.ts';
import { bareApp, echoBody } from '../bare-app.ts';

const open = bareApp([answerPreflights(['*']), echoBody]);
const listed = bareApp([answerPreflights(['https://a.example', ' https://B.example/ ']), echoBody]);

function preflight(app: typeof open, origin: string) {
  return request(app)
    .options('/x')
    .set({ origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' });
}

describe('answerPreflights', () => {
  it('answers a preflight of any origin', async () => {
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

  it.each(['https://a.example', 'https://b.example'])('answers the preflight of %s on the list', async (origin) => {
    const { status, headers } = await preflight(listed, origin);
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers.vary).toBe('Origin, Access-Control-Request-Headers');
  });

  it.each(['https://c.example', 'https://a.example.evil', 'null'])('does not allow %s', async (origin) => {
    expect((await preflight(listed, origin)).headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('lets an OPTIONS that is no preflight pass to the routes', async () => {
    expect((await request(open).options('/')).body).toEqual({ body: null });
  });
});
