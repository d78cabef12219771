import { Router } from 'express';
import { defineRoutes, handle } from 'slipway';

/**
 * @openapi
 * tags:
 *   - { name: API keys, description: "Keys by which programs act as their owner, within some scopes", x-last: true }
 * /api-keys:
 *   tags: [API keys]
 *   get:
 *     operationId: listApiKeys
 *     summary: List the API keys of the caller
 *     x-data: [ApiKey]
 *   post:
 *     operationId: createApiKey
 *     summary: Make an API key, which is shown this once
 *     x-body: CreateApiKey
 *     x-data: NewApiKey
 *     responses: { 201: { description: The new key }, 409: { description: The caller has too many keys } }
 * /api-keys/{id}:
 *   tags: [API keys]
 *   delete:
 *     operationId: revokeApiKey
 *     summary: Revoke an API key of the caller
 *     responses: { 204: { description: Revoked } }
 */
export default defineRoutes(({ apiKeyController, auth }) => {
  const router = Router();
  router.get('/api-keys', auth.session(), handle(apiKeyController, 'list'));
  router.post('/api-keys', auth.session(), handle(apiKeyController, 'create'));
  router.delete('/api-keys/:id', auth.session(), handle(apiKeyController, 'revoke'));
  return router;
});
