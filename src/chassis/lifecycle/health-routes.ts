import { Router } from 'express';
import type { Health } from './health.ts';

/** `/livez` (the process answers) and `/readyz` (it can take requests, else 503 and which check says no). */
export function healthRoutes(health: Health): Router {
  const router = Router();
  router.get('/livez', (_request, response) => {
    response.json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    const { ready, checks } = await health.readiness();
    response.status(ready ? 200 : 503).json({ status: ready ? 'ok' : 'unavailable', checks });
  });
  return router;
}
