import { anyone, defineRoutes, resourceRouter } from '../../chassis/index.ts';

/**
 * @openapi
 * /profiles: { x-resource: Profile, tags: [Users] }
 */
export default defineRoutes(({ profileController, auth }) =>
  resourceRouter('/profiles', profileController, { read: anyone, write: auth.user() }),
);
