import { Router } from 'express';
import { defineRoutes, handle } from '../../chassis/index.ts';

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
export default defineRoutes(({ authController }) => {
  const router = Router();
  router.post('/register', handle(authController, 'register'));
  router.post('/login', handle(authController, 'login'));
  router.post('/refresh', handle(authController, 'refresh'));
  router.post('/logout', handle(authController, 'logout'));
  return router;
});
