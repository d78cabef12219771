import { Router } from 'express';
import { defineRoutes, handle, publicAccess, rateLimit } from 'slipway';

/**
 * @openapi
 * tags:
 *   - { name: Sessions, description: "Logins of the caller, and the end of them", x-last: true }
 * /sessions:
 *   tags: [Sessions]
 *   get:
 *     operationId: listSessions
 *     summary: List the sessions of the caller that are alive
 *     x-data: [Session]
 * /sessions/{id}:
 *   tags: [Sessions]
 *   delete:
 *     operationId: endSession
 *     summary: End a session of the caller
 *     responses: { 204: { description: Ended } }
 * /logout:
 *   tags: [Sessions]
 *   post:
 *     operationId: logout
 *     summary: Log out by ending the session of the refresh token
 *     x-body: Refresh
 *     responses: { 204: { description: Logged out } }
 * /logout-all:
 *   tags: [Sessions]
 *   post:
 *     operationId: logoutAll
 *     summary: Log out everywhere by ending all sessions of the caller, and its API keys where the body says so
 *     x-body: LogoutAll
 *     requestBody: { required: false }
 *     responses: { 204: { description: Logged out } }
 */
export default defineRoutes(({ sessionController, auth, settings }) => {
  const router = Router();
  const logouts = rateLimit({ name: 'logout', points: settings.AUTH_REQUESTS_PER_MINUTE, seconds: 60 });
  router.get('/sessions', auth.session(), handle(sessionController, 'list'));
  router.delete('/sessions/:id', auth.session(), handle(sessionController, 'end'));
  router.post('/logout', publicAccess, logouts, handle(sessionController, 'logout'));
  router.post('/logout-all', auth.session(), handle(sessionController, 'logoutAll'));
  return router;
});
