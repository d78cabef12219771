import { Router } from 'express';
import { publicAccess, sendData } from '../../../../src/chassis/index.ts';

const router = Router();

router.use(publicAccess);
router.get('/ping', (_request, response) => {
  sendData(response, 200, { status: 'ok' });
});

export default router;
