import { defineRoutes, resourceRouter } from 'slipway';

/**
 * @openapi
 * /profiles:
 *   x-resource: Profile
 *   post: { responses: { 403: { description: The profile would be of another user } } }
 * /profiles/{id}:
 *   put: { responses: { 403: { description: The profile is of another user }, 409: null } }
 *   delete: { responses: { 403: { description: The profile is of another user }, 409: null } }
 */
export default defineRoutes(({ profileController, auth }) =>
  resourceRouter('/profiles', profileController, { read: auth.scope('users:read'), write: auth.user() }),
);
