import { Router } from 'express';
import { defineRoutes, publicAccess } from 'slipway';

/** Other services ask for the keys again when they are older, in seconds; longer would hold back a new key. */
const keptSeconds = 300;

/**
 * @openapi
 * /.well-known/jwks.json:
 *   get:
 *     operationId: getPublicKeys
 *     summary: The public keys of access tokens, by which other services verify them (RFC 7517)
 *     description: Empty where AUTH_SIGNING_KEYS is not set. The first key signs.
 *     responses:
 *       200:
 *         description: A JSON Web Key Set
 *         content:
 *           application/json:
 *             schema:
 *               type: object
 *               required: [keys]
 *               properties: { keys: { type: array, items: { type: object } } }
 */
export default defineRoutes(({ accessTokenService }) => {
  const keys = accessTokenService.publicKeys;
  const router = Router();
  router.get('/.well-known/jwks.json', publicAccess, (_request, response) => {
    response.set('Cache-Control', `public, max-age=${keptSeconds}`).json(keys);
  });
  return router;
});
