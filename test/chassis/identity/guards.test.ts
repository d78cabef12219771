import type { RequestHandler } from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/chassis/context/principal.ts';
import { currentPrincipal } from '../../../src/chassis/context/request-context.ts';
import { requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { Guards } from '../../../src/chassis/identity/guards.ts';
import { either, type IdentityProvider } from '../../../src/chassis/identity/identity-provider.ts';
import { docsOf } from '../../../src/chassis/openapi/documented.ts';
import { bareApp } from '../http/bare-app.ts';

/** A provider that believes its header, for what guards make of a principal. */
function believing(header: string, via: Principal['via'], limited = false): IdentityProvider {
  return {
    schemes: {
      [header]: {
        document: { type: 'apiKey', in: 'header', name: header },
        expects: `the header ${header}`,
        challenge: header,
        limited,
      },
    },
    identify(req, { fresh }) {
      const text = req.get(header);
      if (text === undefined) return undefined;
      const { roles = [], scopes = [], authenticatedAt, ...rest } = JSON.parse(text);
      const moment = authenticatedAt && { authenticatedAt: new Date(authenticatedAt) };
      return { userId: 'ann', via, fresh, ...rest, ...moment, roles: new Set(roles), scopes: new Set(scopes) };
    },
  };
}

const provider = either(believing('token', 'token'), believing('key', 'key', true), believing('login', 'login'));
const auth = new Guards(provider, { roles: ['admin', 'editor', 'user'], scopes: ['notes:read', 'notes:write'] });

/** What a caller of a route behind a guard is answered. */
async function answer(guard: RequestHandler, headers: Record<string, object> = {}, path = '/notes/ann') {
  const tell: RequestHandler = (_req, res) => void res.json(currentPrincipal());
  const app = bareApp([requestPipeline()]);
  app.get('/notes/:id', guard, tell);
  // The error handler has to stand behind the route.
  app.use(...app.router.stack.splice(1, 1).map(({ handle }) => handle as RequestHandler));
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, JSON.stringify(value)]));
  const { status, headers: received, body } = await request(app).get(path).set(sent);
  const { 'www-authenticate': challenge, 'cache-control': cache } = received;
  return { status, challenge, cache, message: body.message, body };
}

const status = async (...parameters: Parameters<typeof answer>) => (await answer(...parameters)).status;

describe('a guard', () => {
  it('answers 401 without credentials, and tells all that would do', async () => {
    expect(await answer(auth.user())).toMatchObject({
      status: 401,
      challenge: 'token, login',
      message: 'Expected the header token or the header login',
    });
    expect(await answer(auth.scope('notes:read'))).toMatchObject({
      status: 401,
      challenge: 'token, key, login',
      message: 'Expected the header token or the header key or the header login',
    });
  });

  it('keeps what it guards out of shared caches, which do not know that an API key makes it private', async () => {
    const guard = auth.scope('notes:read');
    const cache = 'private, no-cache';
    expect(await answer(guard, { key: { scopes: ['notes:read'] } })).toMatchObject({ status: 200, cache });
    expect(await answer(auth.optional())).toMatchObject({ status: 200, cache });
  });

  it('believes the first provider that knows the credentials', async () => {
    const { body } = await answer(auth.user(), { login: { userId: 'bob' }, token: { userId: 'ann' } });
    expect(body).toMatchObject({ userId: 'ann', via: 'token' });
  });

  it('asks for one of the roles', async () => {
    const guard = auth.role(['admin', 'editor']);
    expect(await status(guard, { token: { roles: ['user', 'editor'] } })).toBe(200);
    expect(await answer(guard, { token: { roles: ['user'] } })).toMatchObject({
      status: 403,
      message: 'Your role does not allow this',
    });
    expect(await status(guard)).toBe(401);
  });

  it('asks for all of the scopes, and tells which are missing', async () => {
    const guard = auth.scope(['notes:read', 'notes:write']);
    expect(await status(guard, { token: { scopes: ['notes:read', 'notes:write', 'x'] } })).toBe(200);
    expect(await answer(guard, { token: { scopes: ['notes:read'] } })).toMatchObject({
      status: 403,
      message: 'This needs the scope notes:write',
      challenge: 'Bearer error="insufficient_scope", scope="notes:read notes:write"',
    });
  });

  it('asks for role and scope where both are named', async () => {
    const guard = auth.role('admin', { scope: 'notes:read' });
    expect(await status(guard, { token: { roles: ['admin'], scopes: ['notes:read'] } })).toBe(200);
    expect(await status(guard, { token: { roles: ['admin'] } })).toBe(403);
    expect(await status(guard, { token: { scopes: ['notes:read'] } })).toBe(403);
  });

  it('is not for API keys unless it names a scope that the key has', async () => {
    const key = { roles: ['admin'], scopes: ['notes:read'] };
    for (const guard of [auth.user(), auth.role('admin'), auth.selfOr('admin'), auth.session()]) {
      expect(await answer(guard, { key })).toMatchObject({ status: 403, message: 'An API key cannot do this' });
    }
    expect(await status(auth.scope('notes:write'), { key })).toBe(403);
    expect(await status(auth.scope('notes:read'), { key })).toBe(200);
    expect(await status(auth.role('admin', { scope: 'notes:read' }), { key })).toBe(200);
    expect(await status(auth.role('editor', { scope: 'notes:read' }), { key })).toBe(403);
  });

  it('does not limit a login at the service by scopes', async () => {
    expect(await status(auth.scope('notes:read'), { login: {} })).toBe(200);
  });

  it('asks for a login whose session lives now, which tokens and keys are not', async () => {
    expect((await answer(auth.session(), { login: {} })).body).toMatchObject({ fresh: true });
    expect((await answer(auth.user(), { login: {} })).body).toMatchObject({ fresh: false });
    expect(await status(auth.session(), { token: { roles: ['admin'] } })).toBe(403);
  });

  it('lets everybody through where credentials are optional, as who they are, and refuses those that do not hold', async () => {
    const open = auth.optional();
    expect(await answer(open)).toMatchObject({ status: 200, body: '' });
    expect((await answer(open, { token: {} })).body).toMatchObject({ userId: 'ann' });
    expect(await status(open, { key: {} })).toBe(403);
    expect(await status(open, { authorization: { is: 'of another form' } })).toBe(401);
    expect(await answer(open, { authorization: 'Bearer abc' as never })).toMatchObject({ status: 401 });
    expect(docsOf([open])).toMatchObject({ security: ['token', 'login'], optional: true, statuses: [401] });
    expect(docsOf([open, auth.user()]).optional).toBe(false);
  });

  it('asks for a login that is recent enough, and believes no token that does not say when it was', async () => {
    const guard = auth.user({ maxAgeSeconds: 300 });
    const since = (seconds: number) => ({ authenticatedAt: new Date(Date.now() - seconds * 1000) });
    expect((await answer(guard, { login: since(60) })).body).toMatchObject({ fresh: true });
    for (const credentials of [since(3600), {}]) {
      expect(await answer(guard, { login: credentials })).toMatchObject({
        status: 401,
        challenge: 'Bearer error="insufficient_user_authentication", max_age="300"',
        message: 'This needs a more recent login; log in again',
      });
    }
  });

  it('lets the user of the path through, and a role', async () => {
    expect(await status(auth.selfOr('admin'), { token: {} })).toBe(200);
    expect(await status(auth.selfOr('admin'), { token: { userId: 'bob' } })).toBe(403);
    expect(await status(auth.selfOr('admin'), { token: { userId: 'bob', roles: ['admin'] } })).toBe(200);
  });

  it('lets the owner of the record through, and a role', async () => {
    const controller = { columnOf: async (_req: unknown, column: 'author') => ({ author: 'ann' })[column] };
    const guard = auth.owns(controller, 'author', { or: 'admin' });
    expect(await status(guard, { token: {} })).toBe(200);
    expect(await status(guard, { token: { userId: 'bob' } })).toBe(403);
    expect(await status(guard, { token: { userId: 'bob', roles: ['admin'] } })).toBe(200);
    expect(await status(guard)).toBe(401);
  });

  it('is an owner of nothing that belongs to nobody', async () => {
    const nobodys = { columnOf: async (_req: unknown, _column: 'author') => undefined };
    expect(await status(auth.owns(nobodys, 'author'), { token: { userId: undefined } })).toBe(403);
  });

  it('refuses a role or scope that nobody declared, with the one that was meant', () => {
    // @ts-expect-error the compiler knows the roles
    expect(() => auth.role('amdin')).toThrow(
      "Expected a role of admin, editor, user, found 'amdin'; was 'admin' meant?",
    );
    // @ts-expect-error the compiler knows the scopes
    expect(() => auth.scope('notes:raed')).toThrow("was 'notes:read' meant?");
    // @ts-expect-error the compiler knows the roles
    expect(() => auth.selfOr(['admin', 'root'])).toThrow('declare it where the guards are made');
  });

  it('tells the API document its credentials, scopes and statuses', () => {
    expect(docsOf([auth.user()])).toMatchObject({ security: ['token', 'login'], scopes: [], statuses: [401] });
    expect(docsOf([auth.scope('notes:read')])).toMatchObject({
      security: ['token', 'key', 'login'],
      scopes: ['notes:read'],
      statuses: [401, 403],
      schemes: { key: { type: 'apiKey', in: 'header', name: 'key' } },
    });
  });

  it('tells people what it asks for beside credentials', () => {
    const records = { columnOf: (_request: unknown, _column: 'authorId') => Promise.resolve('ann') };
    const needsOf = (...handlers: RequestHandler[]) => docsOf(handlers).needs;
    expect(needsOf(auth.user())).toEqual([]);
    expect(needsOf(auth.role('admin', { maxAgeSeconds: 300 }))).toEqual(['role admin', 'login within 300 s']);
    expect(needsOf(auth.selfOr('admin'), auth.session())).toEqual(['self or role admin', 'login at this service']);
    expect(needsOf(auth.owns(records, 'authorId'))).toEqual(['owner by authorId']);
    expect(needsOf(auth.owns(records, 'authorId', { or: 'admin' }))).toEqual(['owner by authorId or role admin']);
  });

  it('is a guard also where all credentials are API keys', () => {
    const keys = new Guards(believing('key', 'key', true));
    expect(docsOf([keys.user()]).security).toEqual(['key']);
  });
});
