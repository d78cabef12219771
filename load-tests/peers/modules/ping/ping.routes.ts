import { Router } from 'express';
import { sendData } from '../../../../src/chassis/index.ts';

const router = Router();
router.get('/ping', (_request, response) => {
  sendData(response, 200, { status: 'ok' });
});

export default router;
