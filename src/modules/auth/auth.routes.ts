import { type Request, Router } from 'express';
import { addressOf, defineRoutes, handle, parseBody, rateLimit } from '../../chassis/index.ts';
import { login } from './auth.schema.ts';

/**
 * @openapi
 * /register:
 *   post:
 *     operationId: register
 *     summary: Register
 *     x-body: Register
 *     x-data: Account
 *     responses: { 201: { description: The new user }, 409: { description: The address cannot be registered } }
 * /login:
 *   post:
 *     operationId: login
 *     summary: Log in
 *     x-body: Login
 *     x-data: Tokens
 *     responses: { 200: { description: Tokens }, 401: { description: The address or the password is wrong } }
 * /refresh:
 *   post:
 *     operationId: refresh
 *     summary: Exchange a refresh token, which is good for one use, for new tokens
 *     x-body: Refresh
 *     x-data: Tokens
 *     responses: { 200: { description: Tokens }, 401: { description: "The token is unknown, used, revoked or expired" } }
 * /logout:
 *   post:
 *     operationId: logout
 *     summary: Log out by revoking the refresh token and all that grew from the same login
 *     x-body: Refresh
 *     responses: { 204: { description: Logged out } }
 */
export default defineRoutes(({ authController, settings }) => {
  const router = Router();
  const perMinute = (name: string) => rateLimit({ name, points: settings.AUTH_REQUESTS_PER_MINUTE, seconds: 60 });
  const perAccount = rateLimit({
    name: 'login-account',
    points: settings.AUTH_LOGINS_PER_ACCOUNT,
    seconds: 300,
    by: addressAndAccount,
  });
  router.post('/register', perMinute('register'), handle(authController, 'register'));
  router.post('/login', perMinute('login'), perAccount, handle(authController, 'login'));
  router.post('/refresh', perMinute('refresh'), handle(authController, 'refresh'));
  router.post('/logout', perMinute('logout'), handle(authController, 'logout'));
  return router;
});

/** As the schema gives the address, so that no spelling has a count of its own. */
function addressAndAccount(request: Request): string {
  return `${addressOf(request)} ${parseBody(login, request.body).email}`;
}
