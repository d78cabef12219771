import { defineRoutes, handle, receiveUpload, resourceRouter } from '../../chassis/index.ts';

/**
 * @openapi
 * /users: { x-resource: User }
 * /users/{id}:
 *   delete: { responses: { 409: null } }
 * /users/{id}/avatar:
 *   post:
 *     operationId: setAvatar
 *     summary: Set the picture of a user
 *     description: PNG, JPEG, WebP or GIF by content, at most UPLOAD_MAX_BYTES; it replaces the one before.
 *     requestBody:
 *       required: true
 *       content:
 *         multipart/form-data:
 *           schema: { type: object, required: [avatar], properties: { avatar: { type: string, format: binary } } }
 *     x-data: User
 *     responses: { 413: {}, 415: {} }
 */
export default defineRoutes(({ userController, auth, settings }) => {
  const access = { read: auth.user(), write: auth.selfOr('admin') };
  const router = resourceRouter('/users', userController, access);
  const { UPLOAD_MAX_BYTES: maxBytes, LOCAL_UPLOAD_DIR: directory } = settings;
  const receiveAvatar = receiveUpload({ field: 'avatar', maxBytes, directory });
  router.post('/users/:id/avatar', access.write, receiveAvatar, handle(userController, 'setAvatar'));
  return router;
});
