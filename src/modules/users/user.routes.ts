import { defineRoutes, handle, rateLimit, receiveUpload, resourceRouter } from 'slipway';

/**
 * @openapi
 * /users: { x-resource: User }
 * /users/{id}:
 *   delete: { responses: { 409: null } }
 * /users/{id}/avatar:
 *   post:
 *     operationId: setAvatar
 *     summary: Set the picture of a user
 *     description: PNG, JPEG, WebP or GIF by content, at most UPLOAD_MAX_BYTES; it replaces the one before and is stored without its metadata.
 *     requestBody:
 *       required: true
 *       content:
 *         multipart/form-data:
 *           schema: { type: object, required: [avatar], properties: { avatar: { type: string, format: binary } } }
 *     x-data: User
 *     responses: { 413: {}, 415: {}, 429: {}, 507: {} }
 */
export default defineRoutes(({ userController, auth, files, settings }) => {
  const access = { read: auth.scope('users:read'), write: auth.selfOr('admin') };
  const router = resourceRouter('/users', userController, access);
  const limit = rateLimit({ name: 'uploads', points: settings.UPLOADS_PER_MINUTE, seconds: 60, by: 'user' });
  const receiveAvatar = receiveUpload({
    files,
    field: 'avatar',
    maxBytes: settings.UPLOAD_MAX_BYTES,
    // In its one spelling: capitals would give a user a second quota.
    owner: (request) => `user ${userController.idOf(request)}`,
  });
  router.post('/users/:id/avatar', access.write, limit, receiveAvatar, handle(userController, 'setAvatar'));
  return router;
});
